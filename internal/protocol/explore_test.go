package protocol

import (
	"fmt"
	"strings"
	"testing"
)

// step is one thing that may happen next.
type step[S comparable] struct {
	name string
	to   S
}

// model is a system of states. check refuses states; done are those that may be
// an end.
type model[S comparable] struct {
	start S
	next  func(S) []step[S]
	check func(S) error
	done  func(S) bool
}

// report is what all states of a model are like.
type report struct {
	states    int
	violation string // "" for none; else what, and the shortest way there
}

// explore visits every reachable state, the nearest first, until one is refused.
// Then it looks for states from which no end can be reached.
func explore[S comparable](m model[S]) report {
	v := &visit[S]{from: map[S]step[S]{m.start: {}}, queue: []S{m.start}, back: map[S][]S{}}
	for at := 0; at < len(v.queue); at++ {
		s := v.queue[at]
		if err := m.check(s); err != nil {
			return report{len(v.queue), err.Error() + ":\n" + v.way(m.start, s)}
		}
		for _, n := range m.next(s) {
			v.add(s, n)
		}
	}
	if s, found := v.stuck(m.done); found {
		return report{len(v.queue), "no end can be reached:\n" + v.way(m.start, s)}
	}
	return report{states: len(v.queue)}
}

type visit[S comparable] struct {
	from  map[S]step[S] // to is the state before
	queue []S
	back  map[S][]S
}

func (v *visit[S]) add(s S, n step[S]) {
	v.back[n.to] = append(v.back[n.to], s)
	if _, seen := v.from[n.to]; !seen {
		v.from[n.to] = step[S]{n.name, s}
		v.queue = append(v.queue, n.to)
	}
}

// stuck is the first state from which no end can be reached.
func (v *visit[S]) stuck(done func(S) bool) (S, bool) {
	ends := map[S]bool{}
	var todo []S
	for _, s := range v.queue {
		if done(s) {
			ends[s] = true
			todo = append(todo, s)
		}
	}
	for at := 0; at < len(todo); at++ {
		for _, before := range v.back[todo[at]] {
			if !ends[before] {
				ends[before] = true
				todo = append(todo, before)
			}
		}
	}
	for _, s := range v.queue {
		if !ends[s] {
			return s, true
		}
	}
	var none S
	return none, false
}

func (v *visit[S]) way(start, s S) string {
	var names []string
	for s != start {
		names = append(names, v.from[s].name)
		s = v.from[s].to
	}
	var b strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "  %s\n", names[i])
	}
	return b.String()
}

// holds demands that a model has no violation.
func holds[S comparable](t *testing.T, m model[S], atLeast int) {
	t.Helper()
	r := explore(m)
	if r.violation != "" {
		t.Errorf("after %d states: %s", r.states, r.violation)
	}
	if r.states < atLeast {
		t.Errorf("only %d states: the model has lost most of what can happen", r.states)
	}
	t.Logf("%d states", r.states)
}

// finds demands that a model without one of its rules has the violation.
func finds[S comparable](t *testing.T, m model[S], want string) {
	t.Helper()
	r := explore(m)
	if !strings.HasPrefix(r.violation, want) {
		t.Errorf("%d states; want %q, got: %s", r.states, want, r.violation)
		return
	}
	t.Logf("after %d states: %s", r.states, r.violation)
}

// The explorer itself: a counter that must stay below a limit, and a trap.
func TestExplorer(t *testing.T) {
	m := model[int]{
		next: func(n int) []step[int] {
			if n == 7 {
				return nil
			}
			return []step[int]{{"add", (n + 1) % 9}, {"double", n * 2 % 9}}
		},
		check: func(int) error { return nil },
		done:  func(n int) bool { return n == 7 },
	}
	if r := explore(m); r.states != 9 || r.violation != "" {
		t.Errorf("%+v", r)
	}
	m.done = func(n int) bool { return n == 0 }
	if r := explore(m); !strings.HasPrefix(r.violation, "no end can be reached") || strings.Count(r.violation, "\n") < 4 {
		t.Errorf("a trap is not found: %+v", r)
	}
	m.check = func(n int) error {
		if n > 3 {
			return fmt.Errorf("%d is too much", n)
		}
		return nil
	}
	if r := explore(m); r.violation != "4 is too much:\n  add\n  add\n  double\n" {
		t.Errorf("%+v", r)
	}
}

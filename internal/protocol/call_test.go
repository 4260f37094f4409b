package protocol

import (
	"fmt"
	"testing"
)

// callRules are what keeps an operation with a call to another system right.
type callRules struct {
	together  bool // the claim is committed with what comes before the call
	leases    bool // unfinished work is taken over only once its lease has expired
	byAttempt bool // writes are fenced by the attempt, not only by the owner
	byOwner   bool // writes are fenced by the owner
	oneKey    bool // every attempt sends the same key to the other system
}

var calls = callRules{together: true, leases: true, byAttempt: true, byOwner: true, oneKey: true}

// The phases of an actor: a request, or the completer.
const (
	comes  phase = iota
	notes        // has committed what comes before the call, and not yet that it has: only where rules.together is false
	asks         // owns the work: calls the other system
	hears        // has the other system's answer: finishes
	knows        // has its answer
	leaves       // gave up
)

// actor is who runs the operation. The first two are of one process, and so of
// one owner.
type actor struct {
	phase   phase
	tries   uint8 // left
	attempt uint8 // under which it works
	result  uint8 // what the other system answered
}

func owner(i int) uint8 { return uint8(i/2 + 1) }

// callState is one key of an operation: rows, a call, rows.
type callState struct {
	actors  [3]actor
	before  uint8 // commits of what comes before the call
	after   uint8 // and after it
	working bool  // the work row is there
	owner   uint8
	attempt uint8
	leased  bool
	record  uint8 // the recorded result
	charges uint8 // effects at the other system
	keys    uint8 // bits: keys that it knows
	late    bool  // an actor wrote that owned the work no more
}

func callModel(rules callRules) model[callState] {
	start := callState{}
	for i := range start.actors {
		start.actors[i].tries = 2
	}
	return model[callState]{start: start, next: rules.next, check: checkCalls, done: func(s callState) bool {
		for _, a := range s.actors {
			if a.phase < knows {
				return false
			}
		}
		return true
	}}
}

func checkCalls(s callState) error {
	switch {
	case s.before > 1:
		return fmt.Errorf("what comes before the call is done %d times", s.before)
	case s.charges > 1:
		return fmt.Errorf("%d charges", s.charges)
	case s.after > 1:
		return fmt.Errorf("what comes after the call is done %d times", s.after)
	case s.late:
		return fmt.Errorf("a late owner wrote")
	case s.record != 0 && (s.charges == 0 || s.before == 0):
		return fmt.Errorf("recorded without an effect")
	}
	return nil
}

func (rules callRules) next(s callState) []step[callState] {
	var all []step[callState]
	for i := range s.actors {
		all = append(all, rules.actor(s, i)...)
	}
	if s.leased {
		n := s
		n.leased = false
		all = append(all, step[callState]{"the lease expires", n})
	}
	return all
}

func (rules callRules) actor(s callState, i int) []step[callState] {
	var all []step[callState]
	add := func(what string, n callState) {
		all = append(all, step[callState]{fmt.Sprintf("actor %d %s", i, what), n})
	}
	switch s.actors[i].phase {
	case comes:
		if n, ok := rules.come(s, i); ok {
			add("comes", n)
		}
		return all
	case notes:
		add("notes it", s.note(i))
	case asks:
		n := rules.ask(s, i)
		add("calls", n)
		add("calls, and hears nothing", n.back(i))
	case hears:
		add("finishes", rules.finish(s, i))
	default:
		return nil
	}
	add("crashes", s.again(i))
	return all
}

// come is a request or the completer: it begins, takes over, replays, or waits.
func (rules callRules) come(s callState, i int) (callState, bool) {
	switch {
	case s.record != 0:
		s.actors[i].phase = knows
		return s, true
	case !s.working:
		s.before++
		if !rules.together {
			s.actors[i].phase = notes
			return s, true
		}
		s = s.note(i)
	case s.leased && rules.leases:
		return s, false
	default:
		s.owner, s.leased = owner(i), true
		s.attempt++
	}
	s.actors[i].phase, s.actors[i].attempt = asks, s.attempt
	return s, true
}

// note is the work row, and the lease of who makes it.
func (s callState) note(i int) callState {
	s.working, s.owner, s.attempt, s.leased = true, owner(i), 1, true
	s.actors[i].phase, s.actors[i].attempt = asks, s.attempt
	return s
}

// ask is the call: the other system charges once per key.
func (rules callRules) ask(s callState, i int) callState {
	key := uint8(1)
	if !rules.oneKey {
		key = s.actors[i].attempt
	}
	if s.keys&(1<<key) == 0 {
		s.keys |= 1 << key
		s.charges++
	}
	s.actors[i].phase, s.actors[i].result = hears, key
	return s
}

// back is an owner that does not know what its call did: it gives the lease
// back, if it is its own, and comes again.
func (s callState) back(i int) callState {
	if s.working && s.owner == owner(i) && s.attempt == s.actors[i].attempt {
		s.leased = false
	}
	return s.again(i)
}

// again is an actor that starts anew, or gives up.
func (s callState) again(i int) callState {
	tries := s.actors[i].tries
	s.actors[i] = actor{phase: leaves}
	if tries > 0 {
		s.actors[i] = actor{tries: tries - 1}
	}
	return s
}

// finish records the answer, with what comes after the call, where the work is
// still the actor's.
func (rules callRules) finish(s callState, i int) callState {
	mine := s.owner == owner(i) && s.attempt == s.actors[i].attempt
	fenced := rules.byOwner && s.owner != owner(i) || rules.byAttempt && s.attempt != s.actors[i].attempt
	if fenced || !s.working && (rules.byOwner || rules.byAttempt) {
		return s.again(i) // a late owner: it comes like anyone else
	}
	s.late = !mine
	s.after++
	s.record, s.working, s.leased = s.actors[i].result, false, false
	s.actors[i] = actor{phase: knows}
	return s
}

func TestCallsHold(t *testing.T) {
	holds(t, callModel(calls), 30_000)
}

func TestCallsNeedEachRule(t *testing.T) {
	tests := []struct {
		name string
		cut  func(*callRules)
		want string
	}{
		{"the claim apart from what comes before the call", func(r *callRules) { r.together = false }, "what comes before the call is done 2 times"},
		{"no fence", func(r *callRules) { r.byOwner, r.byAttempt = false, false }, "a late owner wrote"},
		{"a fence of the owner only, whose process may have two", func(r *callRules) { r.byAttempt = false }, "a late owner wrote"},
		{"a key of its own per attempt", func(r *callRules) { r.oneKey = false }, "2 charges"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := calls
			tt.cut(&rules)
			finds(t, callModel(rules), tt.want)
		})
	}
	// A lease saves work. What keeps it right are the fence and the key.
	rules := calls
	rules.leases = false
	holds(t, callModel(rules), 30_000)
}

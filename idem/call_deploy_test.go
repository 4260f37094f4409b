package idem

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// down leaves an operation unfinished at a call.
func down(what string) func(context.Context, visit) error {
	return func(_ context.Context, v visit) error {
		if v.what == what {
			return errors.New("down")
		}
		return nil
	}
}

// A deploy may change the steps of what is under way. It is held where they are
// others than those that were done, and no step is left out.
func TestDeployedStepsDoNotFit(t *testing.T) {
	t.Parallel()
	removed, fewer := ride("Ride"), ride("Ride")
	removed.Steps = append(removed.Steps[:2:2], removed.Steps[3], removed.Steps[4]) // no Move
	removed.Answer.Members[0].Value.Step = 3
	fewer.Steps, fewer.Answer = fewer.Steps[:2], Answer{Kind: "step", Step: 1}
	for name, op := range map[string]*Operation{"a step before is gone": removed, "what is left is gone": fewer} {
		t.Run(name, func(t *testing.T) {
			s := newStation(t, ride("Ride"))
			s.till.before = down("Notify")
			wantStatus(t, s.post("Ride", "k", order1), 503)
			s.till.before = nil
			now := s.twin(t, op)
			s.exec(t, "UPDATE idem.work SET due_at = clock_timestamp()")
			if err := now.completeOnce(t); err != nil {
				t.Fatal(err)
			}
			s.held(t, 1)
			wantCode(t, now.post("Ride", "k", order1), 409, "held")
		})
	}
}

// A check that a deploy made stricter is not the answer to what is under way: it
// ends as it began.
func TestStricterCheckMeetsUnfinishedWork(t *testing.T) {
	s := newStation(t, ride("Ride"))
	s.till.before = down("Charge")
	wantStatus(t, s.post("Ride", "k", order1), 503)
	s.till.before = nil
	strict := ride("Ride")
	strict.Fields = append([]Field(nil), strict.Fields...)
	for i := range strict.Fields {
		if strict.Fields[i].Name == "amount" {
			strict.Fields[i].Checks = []Check{{Op: CheckMin, Value: "100"}}
		}
	}
	now := s.twin(t, strict)
	wantCode(t, now.post("Ride", "k", order1), 409, "in-flight")
	wantStatus(t, now.post("Ride", "k2", order1), 422)
	s.exec(t, "UPDATE idem.work SET due_at = clock_timestamp()")
	if err := now.completeOnce(t); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, now.post("Ride", "k", order1), 201)
}

// charging is a ride whose process ends inside its call, which holds then.
func charging(t *testing.T) *station {
	s := newStation(t, holding())
	s.till.after = func(_ context.Context, v visit) error {
		if v.n == 1 && v.what == "Charge" {
			runtime.Goexit()
		}
		return nil
	}
	wantStatus(t, s.post("Ride", "k", order1), 500)
	s.expireLease(t)
	return s
}

// Whoever gives back what it took, and did nothing with, must not hide that a call
// before has ended nobody knows how.
func TestWhatIsUnknownStaysUnknownWhenGivenBack(t *testing.T) {
	s := charging(t)
	c := &completing{s: s.Service, pool: s.pools.all[0], names: s.durableNames(), free: make(chan struct{}, 8)}
	rows, owner, err := c.pick(t.Context(), 8)
	if err != nil || len(rows) != 1 {
		t.Fatal(len(rows), err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	s.complete(stopped, c.pool, owner, rows[0])
	s.expireLease(t)
	wantCode(t, s.post("Ride", "k", order1), 409, "held")
	s.till.want(t, 1, 0, 0, 0)
}

// The statement that takes work may be sent twice, where its answer got lost.
func TestWhatIsUnknownStaysUnknownWhenTakenTwice(t *testing.T) {
	s := charging(t)
	inv := newInvocation(s.operations["Ride"], s.pools.all[0], "t1")
	inv.protect("k")
	first := newWork(s.Service, inv)
	if taken, err := first.take(t.Context()); !taken || err != nil || !first.unsure {
		t.Fatal(taken, err, first.unsure)
	}
	again := &work{s: s.Service, inv: inv, owner: first.owner}
	if taken, err := again.take(t.Context()); !taken || err != nil || !again.unsure {
		t.Error(taken, err, again.unsure)
	}
}

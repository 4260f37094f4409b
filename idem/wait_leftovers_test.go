package idem

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"
)

// Whoever gives up in memory, by time, by its context, or at once, leaves
// nothing, and the one that runs keeps its turn.
func TestCase_crash_4_in_memory(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, giveUp := range map[string]struct {
		ctx  context.Context
		wait time.Duration
	}{
		"by time": {t.Context(), time.Millisecond}, "by its context": {gone, time.Hour}, "at once": {t.Context(), 0},
	} {
		f, id := newFlights(), identity{"t1", "1"}
		leave, _ := f.enter(t.Context(), id, 0)
		for range 3 {
			if _, ok := f.enter(giveUp.ctx, id, giveUp.wait); ok {
				t.Fatalf("%s: entered while another runs", name)
			}
		}
		if fl := f.running[id]; fl == nil || fl.refs != 1 || len(f.running) != 1 || len(f.waiting) != 0 {
			t.Errorf("%s: left beside the one that runs: %v %v", name, f.running, f.waiting)
		}
		leave()
		if len(f.running) != 0 || len(f.waiting) != 0 {
			t.Errorf("%s: left behind: %v %v", name, f.running, f.waiting)
		}
	}
}

// The same of requests: twins that are turned away while the first one runs.
func TestCase_crash_4_a_twin_gives_up(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		e := newOutcomeRun(t, spendStepped("Spend", ReadCommitted, wait))
		e.watch.exec(t, "INSERT INTO slots VALUES (1, 25)")
		end := hold(t, e.watch.pool, "SELECT FROM slots WHERE id = 1 FOR UPDATE")
		send := func() *httptest.ResponseRecorder { return e.post("Spend", "k", spendBody(1, 20)) }
		first := make(chan *httptest.ResponseRecorder, 1)
		go func() { first <- send() }()
		awaitBlocked(t, e.watch)
		for range 3 {
			wantCode(t, send(), 409, "in-flight")
		}
		e.flights.mu.Lock()
		if len(e.flights.running) != 1 || len(e.flights.waiting) != 0 {
			t.Errorf("waits %s: %v %v", wait, e.flights.running, e.flights.waiting)
		}
		e.flights.mu.Unlock()
		end(false)
		w := <-first
		wantStatus(t, w, 201)
		e.wantNothingHeld(t)
		sameAnswer(t, w, send())
	}
}

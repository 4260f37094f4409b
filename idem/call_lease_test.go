package idem

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Work is taken over with the lease of its calls, so that it is free again as soon
// after another crash; a step with a longer one has it while its call runs.
func TestTakenWorkHasTheLeaseOfItsCalls(t *testing.T) {
	op := ride("Ride")
	op.Steps[1].Call.Lease = 2 * time.Second
	s := newStation(t, op)
	left := func() (seconds float64) {
		t.Helper()
		if err := s.pool.QueryRow(t.Context(), "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM idem.work").Scan(&seconds); err != nil {
			t.Fatal(err)
		}
		return seconds
	}
	s.till.before = func(_ context.Context, v visit) error {
		switch {
		case v.n == 1:
			return errors.New("lost")
		case v.what == "Charge":
			if n := left(); n > 2 {
				t.Errorf("%v s are left of the lease of a short call", n)
			}
		case v.what == "Notify":
			for deadline := time.Now().Add(10 * time.Second); left() < 2; {
				if time.Now().After(deadline) {
					t.Error("the lease of a long call is not extended")
					return nil
				}
			}
		}
		return nil
	}
	for range 2 {
		wantStatus(t, s.post("Ride", "k", order1), 503)
	}
	wantStatus(t, s.post("Ride", "k", order1), 201)
}

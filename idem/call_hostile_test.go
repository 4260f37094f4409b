package idem

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// Repetitions come as fast as clients like: only tries that were due count, or a
// crowd would have an operation held within the second that a system is away.
func TestRepetitionsDoNotUseUpTheTries(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	s.till.before = func(context.Context, visit) error { return errors.New("away") }
	for range 40 {
		wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	}
	for _, w := range crowdAt(64, s, s.twin(t, ride("Ride"))) {
		if strings.Contains(w.Body.String(), `"held"`) {
			t.Fatal("held")
		}
	}
	s.till.before = nil
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.settled(t)
}

// badError is an error whose own methods fail.
type badError struct{ text *string }

func (e *badError) Error() string { return *e.text }

// An error that can't be read is an error like any other: the try counts, and the
// lease is given back.
func TestErrorsThatPanic(t *testing.T) {
	t.Parallel()
	var none *badError
	for _, what := range []string{"Charge", "Refund"} {
		t.Run(what, func(t *testing.T) {
			s := newStation(t, ride("Ride"))
			if what == "Refund" {
				s.exec(t, "UPDATE accounts SET balance = 2")
			}
			s.till.before = func(_ context.Context, v visit) error {
				if v.what == what {
					return none
				}
				return nil
			}
			wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
			if n := s.count(t, "SELECT count(*) FROM idem.work WHERE tries = 1 AND owner IS NULL"); n != 1 {
				t.Errorf("%d are given back", n)
			}
		})
	}
}

// A process that is gone without a word has failed as well: an operation that ends
// every process that works at it is held at last, and ends no more of them.
func TestTriesThatEndTheProcessCount(t *testing.T) {
	s := newStation(t, ride("Ride"))
	s.completer.MaxTries = 5
	s.till.before = func(context.Context, visit) error { runtime.Goexit(); return nil }
	wantStatus(t, s.post("Ride", "k", order1), 500)
	for range 10 {
		s.exec(t, "UPDATE idem.work SET due_at = clock_timestamp(), lease_until = clock_timestamp() - interval '1 s' WHERE owner IS NOT NULL")
		if err := s.completeOnce(t); err != nil {
			t.Fatal(err)
		}
	}
	if held := s.held(t, 5); !strings.Contains(held.Reason, "5 times") {
		t.Errorf("%+v", held)
	}
	s.till.before = nil
	if err := RetryHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.settled(t)
}

// A function that does not heed its context is a failed try, and takes no place of
// the completer for ever.
func TestCallOutlivesItsContext(t *testing.T) {
	t.Parallel()
	stuck := ride("Ride")
	stuck.Policy.Timeout = 200 * time.Millisecond
	fine := ride("Fine")
	s := openStation(t, idemtest.Pool(t, shopTables), &till{}, func(o *Options) { o.Completer.Parallel = 1 }, stuck, fine)
	s.grace = 50 * time.Millisecond
	s.till.before = func(context.Context, visit) error { return errors.New("away") }
	wantStatus(t, s.post("Ride", "k", order1), 503)
	wantStatus(t, s.post("Fine", "k", `{"order_id": "o2", "amount": 5}`), 503)
	back := make(chan struct{})
	var stuckIn atomic.Int32
	s.till.before = func(ctx context.Context, v visit) error {
		if v.what == "Charge" && stuckIn.Add(1) == 1 {
			<-back
		}
		return nil
	}
	s.exec(t, "UPDATE idem.work SET due_at = CASE operation WHEN 'shop.Ride' THEN clock_timestamp() - interval '1 s' ELSE clock_timestamp() END")
	s.run(t)
	s.await(t, 1, "SELECT count(*) FROM payments WHERE status = 'paid' AND order_id = 'o2'")
	s.await(t, 2, "SELECT count(*) FROM payments WHERE status = 'paid'")
	close(back)
}

// Results that the database can't keep must not make the call for ever.
func TestResultsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	s.exec(t, `ALTER TABLE idem.work ADD CHECK (results::text NOT LIKE '%r-%')`)
	s.till.before = nil
	wantStatus(t, s.post("Ride", "k", order1), 500)
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE tries = 1 AND owner IS NULL AND step = 1"); n != 1 {
		t.Errorf("%d are given back", n)
	}
}

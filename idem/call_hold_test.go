package idem

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func holding() *Operation {
	op := ride("Ride")
	op.Steps[1].Call.Hold = true
	return op
}

// held checks that the operation is held, and that no repetition and no completer
// makes the call again.
func (s *station) held(t *testing.T, calls int) HeldWork {
	t.Helper()
	wantCode(t, s.post("Ride", "k", order1), 409, "held")
	wantCode(t, s.post("Ride", "k", `{"order_id": "o1", "amount": 6}`), 422, "key-reused")
	if err := s.completeOnce(t); err != nil {
		t.Fatal(err)
	}
	if asked, _ := s.till.times("Charge"); asked != calls {
		t.Errorf("charged %d times", asked)
	}
	held, err := ListHeld(t.Context(), s.pool, 10)
	if err != nil || len(held) != 1 {
		t.Fatalf("%v, %v", held, err)
	}
	return held[0]
}

// completeOnce takes what is due, and returns when it is done.
func (s *station) completeOnce(t *testing.T) error {
	c := &completing{s: s.Service, pool: s.pools.all[0], names: s.durableNames(), free: make(chan struct{}, 8)}
	_, err := c.round(t.Context())
	if left := s.work.wait(time.Minute); left > 0 {
		t.Errorf("%d are still at it", left)
	}
	return err
}

// Where nobody knows whether a call was done, `unknown: hold` leaves it to an
// operator.
func TestHold(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("secret") }, "panic": func() error { panic("secret") },
		"crash": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStation(t, holding())
			s.till.after = func(_ context.Context, v visit) error {
				if v.n == 1 && v.what == "Charge" {
					return fail()
				}
				return nil
			}
			w := s.post("Ride", "k", order1)
			if name == "crash" {
				wantStatus(t, w, 500)
				s.expireLease(t)
			} else {
				wantCode(t, w, 409, "held")
				if w.Header().Get("X-Should-Retry") != "false" {
					t.Errorf("%v", w.Header())
				}
			}
			held := s.held(t, 1)
			if held.Scope != "t1" || held.Operation != "shop.Ride" || held.Key != "k" || held.Step != 1 || held.Undoing ||
				!strings.Contains(held.Reason, "Charge") || strings.Contains(held.Reason, "secret") {
				t.Errorf("%+v", held)
			}
			if err := RetryHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil {
				t.Fatal(err)
			}
			wantStatus(t, s.post("Ride", "k", order1), 201)
			s.settled(t)
			if err := RetryHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); !errors.Is(err, ErrNotHeld) {
				t.Error(err)
			}
		})
	}
}

// A call that was certainly not done is made again, also under hold; so is one
// that was never begun.
func TestHoldRetriesWhatWasNotDone(t *testing.T) {
	s := newStation(t, holding())
	s.till.before = func(_ context.Context, v visit) error {
		if v.n == 1 && v.what == "Charge" {
			return NotDone(errors.New("connection refused"))
		}
		return nil
	}
	wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.settled(t)
	if NotDone(nil) != nil || !errors.Is(NotDone(context.Canceled), context.Canceled) {
		t.Error("NotDone")
	}
}

// An operator ends a held operation: the calls before are taken back, the answer
// is recorded.
func TestHoldRefused(t *testing.T) {
	op := ride("Ride")
	op.Steps[3].Call.Hold = true // Notify
	s := newStation(t, op)
	s.till.before = func(_ context.Context, v visit) error {
		if v.what == "Notify" {
			return errors.New("lost")
		}
		return nil
	}
	wantCode(t, s.post("Ride", "k", order1), 409, "held")
	if err := RefuseHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil {
		t.Fatal(err)
	}
	s.takenBack(t, s.post("Ride", "k", order1), 409, "given-up")
	s.till.want(t, 1, 1, 1, 0)
}

// After too many tries an operator decides, also about an undo.
func TestTriesEndHeld(t *testing.T) {
	s := poor(t)
	s.completer.MaxTries = 2
	s.till.before = func(_ context.Context, v visit) error {
		if v.what == "Refund" {
			return errors.New("down")
		}
		return nil
	}
	wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	s.exec(t, "UPDATE idem.work SET due_at = clock_timestamp()") // an early one does not count
	wantCode(t, s.post("Ride", "k", order1), 409, "held")
	held := s.held(t, 1)
	if !held.Undoing || held.Step != 1 {
		t.Errorf("%+v", held)
	}
	if err := RefuseHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil { // the undo is given up
		t.Fatal(err)
	}
	wantCode(t, s.post("Ride", "k", order1), 409, "overdrawn")
	s.till.want(t, 1, 0, 2, 0)
}

// Work that the operation, as it is deployed now, can't continue is held; and so
// is that of an operation that is gone for a while.
func TestMisfitIsHeld(t *testing.T) {
	t.Parallel()
	down := func(context.Context, visit) error { return errors.New("down") }
	for name, change := range map[string]func(op *Operation){
		"a field more": func(op *Operation) {
			op.Fields = append(op.Fields[:len(op.Fields):len(op.Fields)], Field{From: FromBody, Name: "more", Kind: KindText, Required: true})
		},
		"another type": func(op *Operation) {
			op.Fields = append([]Field{{From: FromBody, Name: "order_id", Kind: KindInt4, Required: true}}, op.Fields[1:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStation(t, ride("Ride"))
			s.till.before = down
			wantStatus(t, s.post("Ride", "k", order1), 503)
			s.exec(t, "UPDATE idem.work SET due_at = clock_timestamp()")
			op := ride("Ride")
			change(op)
			now := s.twin(t, op)
			if err := now.completeOnce(t); err != nil {
				t.Fatal(err)
			}
			held, err := ListHeld(t.Context(), s.pool, 10)
			if err != nil || len(held) != 1 || !strings.Contains(held[0].Reason, reasonUnfit) || strings.Contains(held[0].Reason, "o1") {
				t.Fatalf("%+v, %v", held, err)
			}
			// Refused, it has nothing to continue.
			if name == "a field more" {
				for range 2 {
					if err := RefuseHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil {
						t.Fatal(err)
					}
					if err := now.completeOnce(t); err != nil {
						t.Fatal(err)
					}
				}
				wantCode(t, s.post("Ride", "k", order1), 409, "given-up")
				return
			}
			// The version before can still do it.
			s.till.before = nil
			if err := RetryHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil {
				t.Fatal(err)
			}
			wantStatus(t, s.post("Ride", "k", order1), 201)
			s.settled(t)
		})
	}
	s := newStation(t, ride("Gone"))
	s.till.before = down
	wantStatus(t, s.post("Gone", "k", order1), 503)
	twin := s.twin(t, ride("Ride"))
	for age, want := range map[string]int{"1 min": 0, "11 min": 1} {
		s.exec(t, "UPDATE idem.work SET held = false, due_at = clock_timestamp() - $1::text::interval", age)
		if err := twin.completeOnce(t); err != nil {
			t.Fatal(err)
		}
		if held, err := ListHeld(t.Context(), s.pool, 10); err != nil || len(held) != want {
			t.Errorf("%s: %+v, %v", age, held, err)
		}
	}
}

// In every mode in which pgx can execute statements, poolers in mind.
func TestHoldInEveryMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			pool := idemtest.Open(t, idemtest.URL(t, shopTables), func(config *pgxpool.Config) { config.ConnConfig.DefaultQueryExecMode = mode })
			s := openStation(t, pool, &till{}, nil, holding(), payout())
			s.till.after = func(_ context.Context, v visit) error {
				if v.n == 1 && v.what == "Charge" {
					return errors.New("lost")
				}
				return nil
			}
			wantCode(t, s.post("Ride", "k", order1), 409, "held")
			s.held(t, 1)
			if err := RetryHeld(t.Context(), s.pool, "t1", "shop.Ride", "k"); err != nil {
				t.Fatal(err)
			}
			if err := s.completeOnce(t); err != nil {
				t.Fatal(err)
			}
			s.settled(t)
			event := eventOfAnswer(t, s.post("Payout", "k", `{"order_id": "o2", "amount": 5}`))
			if err := s.completeOnce(t); err != nil {
				t.Fatal(err)
			}
			s.wantState(t, event, AsyncDone)
			if _, err := (&Sweeper{Pool: pool}).Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

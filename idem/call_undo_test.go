package idem

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
)

// poor has 5 on an account that holds less: the step behind the charge fails.
func poor(t *testing.T) *station {
	s := newStation(t, ride("Ride"))
	s.exec(t, "UPDATE accounts SET balance = 2")
	return s
}

// takenBack checks that the client error is recorded, and the charge refunded once.
func (s *station) takenBack(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	wantCode(t, w, status, code)
	again := s.post("Ride", "k", order1)
	sameBody(t, w, again)
	if again.Header().Get(replayedHeader) != "true" {
		t.Error("it was not recorded")
	}
	if _, done := s.till.times("Refund"); done != 1 {
		t.Errorf("refunded %d times", done)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work"); n != 0 {
		t.Errorf("%d unfinished", n)
	}
}

// A client error of a later step takes the calls back.
func TestUndoAfterALaterStep(t *testing.T) {
	s := poor(t)
	s.takenBack(t, s.post("Ride", "k", order1), 409, "overdrawn")
	s.till.want(t, 1, 0, 1, 0)
	if a, b := s.till.visits[0].key, s.till.visits[1].key; a == b {
		t.Error("call and undo have the same key")
	}
	if got, want := s.till.visits[1].nonce, "r-"+s.till.visits[0].key[:8]; got != want {
		t.Errorf("the undo got the result %q, want %q", got, want)
	}
}

// A later call that is refused takes back those before it, itself not; a later
// step all of them, the last one first.
func TestUndoInReverse(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	s.till.before = func(_ context.Context, v visit) error {
		if v.what == "Notify" {
			return Fail(422, "no_address", "")
		}
		return nil
	}
	s.takenBack(t, s.post("Ride", "k", order1), 422, "no_address")
	s.till.want(t, 1, 1, 1, 0)

	op := ride("Ride")
	op.Steps[4].Args[0] = Arg{From: ArgLiteral, Text: "99"}
	op.Steps[4].Empty = Empty{Problem: &Problem{404, "gone", ""}}
	s = newStation(t, op)
	s.takenBack(t, s.post("Ride", "k", order1), 404, "gone")
	s.till.want(t, 1, 1, 1, 1)
	if s.till.visits[2].what != "Withdraw" {
		t.Errorf("the order: %+v", s.till.visits)
	}
}

// A crash inside of an undo, and an undo that fails: it is called again until it
// is done, with the same key, and then the refusal is recorded.
func TestUndoAfterACrash(t *testing.T) {
	t.Parallel()
	for point, crash := range crashPoints {
		t.Run(point, func(t *testing.T) {
			s := poor(t)
			crash(s.till, "Refund")
			wantStatus(t, s.post("Ride", "k", order1), 500)
			if n := s.count(t, "SELECT count(*) FROM idem.work WHERE undoing AND refusal->>'status' = '409'"); n != 1 {
				t.Errorf("%d are being taken back", n)
			}
			s.expireLease(t)
			s.exec(t, "UPDATE accounts SET balance = 100") // it is decided already
			s.takenBack(t, s.twin(t, ride("Ride")).post("Ride", "k", order1), 409, "overdrawn")
			s.till.want(t, 1, 0, 2, 0)
		})
	}
}

func TestUndoThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("secret") }, "a refusal": func() error { return Fail(409, "too_late", "") },
		"panic": func() error { panic("secret") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it is tried again after a second, and after two
			s := poor(t)
			s.till.after = func(_ context.Context, v visit) error {
				if v.what == "Refund" && v.n < 3 {
					return fail()
				}
				return nil
			}
			wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
			s.run(t)
			s.await(t, 0, "SELECT count(*) FROM idem.work")
			if asked, done := s.till.times("Refund"); asked != 3 || done != 1 {
				t.Errorf("asked %d times, done %d", asked, done)
			}
			wantCode(t, s.post("Ride", "k", order1), 409, "overdrawn")
		})
	}
}

// The process ends between the last undo and the record.
func TestUndoneButNotRecorded(t *testing.T) {
	t.Parallel()
	s := poor(t)
	s.exec(t, `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER broken BEFORE UPDATE ON idem.keys FOR EACH ROW EXECUTE FUNCTION broken()`)
	wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	s.exec(t, "DROP TRIGGER broken ON idem.keys")
	s.takenBack(t, s.post("Ride", "k", order1), 409, "overdrawn")
	s.till.want(t, 1, 0, 1, 0)
}

package idem

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// handOutcome is an outcome of a handler of Do.
type handOutcome struct {
	after  func(ctx context.Context, tx Tx) (Response, error) // its write
	status int
	code   string
	kept   time.Duration
	effect bool // the write stays
}

func handOutcomes() map[string]handOutcome {
	answers := func(status int, err error) func(context.Context, Tx) (Response, error) {
		return func(context.Context, Tx) (Response, error) { return Response{Status: status}, err }
	}
	sql := func(text string) func(context.Context, Tx) (Response, error) {
		return func(ctx context.Context, tx Tx) (Response, error) {
			_, err := tx.Exec(ctx, text)
			return Response{}, err
		}
	}
	all := map[string]handOutcome{
		"success":             {answers(201, nil), 201, "", keptSuccess, true},
		"redirect":            {answers(303, nil), 303, "", keptSuccess, true},
		"4xx with its writes": {answers(422, nil), 422, "", keptSuccess, true},
		"client error":        {answers(0, Fail(409, "closed", "")), 409, "closed", keptError, false},
		"error":               {answers(0, errors.New("secret")), 500, "internal", 0, false},
		"another status":      {answers(500, nil), 500, "internal", 0, false},
		"its own COMMIT":      {sql("COMMIT"), 500, "internal", 0, true},
		"its own ROLLBACK":    {sql("ROLLBACK"), 500, "internal", 0, false},
		"swallowed error": {func(ctx context.Context, tx Tx) (Response, error) {
			_, _ = tx.Exec(ctx, "SELECT 1/0")
			return Response{Status: 200}, nil
		}, 500, "internal", 0, false},
		"violation":     {sql("INSERT INTO accounts VALUES (1, 1)"), 500, "internal", 0, false},
		"serialization": {sql("DO $$ BEGIN RAISE EXCEPTION '' USING ERRCODE = '40001'; END $$"), 503, "unavailable", 0, false},
		"backend ended": {sql("SELECT pg_terminate_backend(pg_backend_pid())"), 503, "unavailable", 0, false},
		"panic":         {func(context.Context, Tx) (Response, error) { panic("secret") }, 500, "internal", 0, false},
		"deferred": {sql(`CREATE TEMP TABLE parts (id int PRIMARY KEY, whole int REFERENCES parts DEFERRABLE INITIALLY DEFERRED) ON COMMIT DROP;
			INSERT INTO parts VALUES (1, 2)`), 500, "internal", 0, false},
	}
	// Another attempt may be answered otherwise: profile ietf keeps none of these.
	for _, status := range []int{401, 403, 408, 425, 429, 500, 503} {
		all["fails with "+http.StatusText(status)] = handOutcome{answers(0, Fail(status, "now", "")), status, "", 0, false}
		all["answers "+http.StatusText(status)] = handOutcome{answers(status, nil), 500, "internal", 0, false}
	}
	return all
}

// The same for hand-written handlers: each outcome leaves a record, or a key that
// runs at once.
func TestCase_crash_4_do(t *testing.T) {
	t.Parallel()
	for _, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable} {
		t.Run(string(level), func(t *testing.T) {
			s := newShop(t)
			for _, name := range slices.Sorted(maps.Keys(handOutcomes())) {
				t.Run(name, func(t *testing.T) { s.endByHand(t, handOutcomes()[name], level) })
			}
		})
	}
}

func (s *shop) endByHand(t *testing.T, e handOutcome, level Isolation) {
	s.exec(t, "TRUNCATE idem.keys; UPDATE accounts SET balance = 100 WHERE id = 1")
	request := Request{Scope: "t1", Operation: "shop.Hand", Key: "k", Policy: Policy{Isolation: level, Wait: -1}}
	runs := 0
	write := func(then func(context.Context, Tx) (Response, error)) func(context.Context, Tx) (Response, error) {
		return func(ctx context.Context, tx Tx) (Response, error) {
			runs++
			if _, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance - 1 WHERE id = 1"); err != nil {
				return Response{}, err
			}
			return then(ctx, tx)
		}
	}
	_, meta, err := Do(t.Context(), s.pool, request, write(e.after))
	if meta.Status != e.status || meta.Replayed || e.code != "" && CodeOf(err) != e.code {
		t.Errorf("%+v %v", meta, err)
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	spent := s.count(t, "SELECT 100 - balance FROM accounts WHERE id = 1")
	if spent != 0 != e.effect {
		t.Errorf("%d effects", spent)
	}
	if left := s.keptFor(t); left > e.kept || left < e.kept-time.Minute {
		t.Errorf("kept for %s, want %s", left, e.kept)
	}
	s.awaitNothingHeld(t)
	runs = 0
	_, again, err := Do(t.Context(), s.pool, request, write(func(context.Context, Tx) (Response, error) { return Response{Status: 200}, nil }))
	if e.kept > 0 && (!again.Replayed || again.Status != e.status || runs > 0) || e.kept == 0 && (again.Replayed || err != nil || runs != 1) {
		t.Errorf("again %+v %v, %d runs", again, err, runs)
	}
	s.awaitNothingHeld(t)
}

// keptFor is how long the one record is still kept, 0 if there is none.
func (s *shop) keptFor(t *testing.T) time.Duration {
	return time.Second * time.Duration(s.count(t, "SELECT coalesce(ceil(extract(epoch FROM max(expires_at) - clock_timestamp())), 0)::bigint FROM idem.keys"))
}

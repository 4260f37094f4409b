package idem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// guard is an AuthorizeReplay that notes what it was asked.
type replayGuard struct {
	mu    sync.Mutex
	asked []string
	err   error
	panic any
}

func (g *replayGuard) ask(_ context.Context, name Name, caller []any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, fmt.Sprint(name, caller))
	if g.panic != nil {
		panic(g.panic)
	}
	return g.err
}

func (g *replayGuard) calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.asked)
}

// A caller whose role was revoked gets no replay: the service's own answer, in
// every strategy, for a success as for a problem; the record is untouched.
func TestCase_scope_4(t *testing.T) {
	database := newShop(t)
	for _, op := range []*Operation{charge(), takeJob(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable)} {
		for name, body := range map[string]string{"success": bodyFor(op.Name), "problem": strings.Replace(bodyFor(op.Name), ": 1}", ": 500}", 1)} {
			t.Run(string(op.Name)+" "+name, func(t *testing.T) {
				guard := &replayGuard{err: Fail(403, "role_revoked", "your role was revoked")}
				s := openWith(t, database, Options{AuthorizeReplay: guard.ask}, op)
				s.reset(t)
				s.exec(t, "DELETE FROM jobs")
				if name == "success" {
					s.exec(t, manyJobs)
				}
				first := s.post(op.Name, "k", body)
				if first.Code/100 != 2 && name == "success" || guard.calls() != 0 {
					t.Fatalf("first: %d %s, asked %d times", first.Code, first.Body, guard.calls())
				}
				again := s.post(op.Name, "k", body)
				wantCode(t, again, 403, "role_revoked")
				if again.Header().Get(replayedHeader) != "false" || again.Header().Get("X-Should-Retry") != "false" {
					t.Errorf("headers %v", again.Header())
				}
				if want := string(op.Name) + "[t1]"; guard.asked[0] != want {
					t.Errorf("asked %q, want %q", guard.asked[0], want)
				}
				guard.err = nil
				back := s.post(op.Name, "k", body)
				if back.Body.String() != first.Body.String() || back.Header().Get(replayedHeader) != "true" {
					t.Errorf("afterwards: %d %s", back.Code, back.Body)
				}
			})
		}
	}
}

// All that shows a record asks; what shows none does not.
func TestAuthorizeReplayIsAskedAboutRecordsOnly(t *testing.T) {
	returns := createPayment("Return", patience, true)
	returns.Steps[0].Intent.Return = true
	secret := charge()
	secret.Policy.Tombstone = true
	secret.SQL = strings.Replace(secret.SQL, "CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END", "NULL", 1)
	guard := &replayGuard{err: errors.New("no")}
	s := openWith(t, nil, Options{AuthorizeReplay: guard.ask}, createPayment("Create", patience, false), returns, secret)
	wantStatus(t, s.post("Create", "k", order1), 201)
	wantCode(t, s.post("Create", "k", `{"order_id": "o2", "amount": 5}`), 422, "key-reused")
	wantStatus(t, s.post("Create", "", `{"order_id": "o3", "amount": 5}`), 201)
	wantCode(t, s.post("Create", "k2", order1), 409, "intent-conflict")
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
	if guard.calls() != 0 {
		t.Errorf("asked: %q", guard.asked)
	}
	wantCode(t, s.post("Create", "k2", order1), 403, "forbidden")
	wantCode(t, s.post("Return", "k3", order1), 403, "forbidden")         // the existing row
	wantCode(t, s.post("Charge", "k", `{"amount": 1}`), 403, "forbidden") // a tombstone
	// A deploy made a check stricter: the record is shown all the same, if at all.
	strict := createPayment("Create", patience, false)
	strict.Fields = append([]Field{}, strict.Fields...)
	strict.Fields[1].Checks = []Check{{Op: CheckMin, Value: "6"}}
	stricter := openWith(t, s, Options{AuthorizeReplay: guard.ask}, strict)
	wantCode(t, stricter.post("Create", "k", order1), 403, "forbidden")
	if guard.calls() != 4 {
		t.Errorf("asked: %q", guard.asked)
	}
}

func TestAuthorizeReplayErrors(t *testing.T) {
	var log bytes.Buffer
	guard := &replayGuard{}
	s := openWith(t, nil, Options{AuthorizeReplay: guard.ask, Logger: slog.New(slog.NewTextHandler(&log, nil))}, charge())
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
	for _, c := range []struct {
		err    error
		panics any
		status int
		code   string
		logged string
	}{
		{err: Fail(404, "not_found", "there is no such thing"), status: 404, code: "not_found"},
		{err: fmt.Errorf("wrapped: %w", Fail(429, "slow_down", "")), status: 429, code: "slow_down"},
		{err: errors.New("secret reason"), status: 403, code: "forbidden", logged: "secret reason"},
		{err: (*Error)(nil), status: 403, code: "forbidden", logged: "replay refused"},
		{err: &Error{Status: 200}, status: 403, code: "forbidden", logged: "replay refused"},
		{err: fmt.Errorf("policy server: %w", context.DeadlineExceeded), status: 503, code: "unavailable", logged: "policy server"},
		{panics: "boom", status: 500, code: "internal", logged: "boom"},
	} {
		log.Reset()
		guard.err, guard.panic = c.err, c.panics
		w := s.post("Charge", "k", `{"amount": 1}`)
		wantCode(t, w, c.status, c.code)
		if strings.Contains(w.Body.String(), "secret") || !strings.Contains(log.String(), c.logged) {
			t.Errorf("%v: %s, log %s", c.err, w.Body, &log)
		}
		_, err := s.Call(context.Background(), "Charge", []any{"t1"}, "k", []any{int64(1), int64(1)}, nil)
		if CodeOf(err) != c.code {
			t.Errorf("%v, from Go: %v", c.err, err)
		}
	}
	guard.err, guard.panic = nil, nil
	if w := s.post("Charge", "k", `{"amount": 1}`); w.Header().Get(replayedHeader) != "true" || w.Code != 201 {
		t.Errorf("a refusal was recorded: %s", w.Body)
	}
}

// It may use the service's only connection, its context is the request's, and no
// copy of the request waits for it.
func TestAuthorizeReplayHoldsNothing(t *testing.T) {
	pool := idemtest.Open(t, idemtest.URL(t, shopTables), func(c *pgxpool.Config) { c.MaxConns = 1 })
	type mark struct{}
	entered := make(chan struct{}, 2)
	both := make(chan struct{})
	s := openWith(t, &shop{pool: pool}, Options{AuthorizeReplay: func(ctx context.Context, _ Name, _ []any) error {
		entered <- struct{}{}
		if len(entered) == 2 {
			close(both)
		}
		select {
		case <-both:
		case <-time.After(10 * time.Second):
			return errors.New("the other copy waits for this one")
		}
		if ctx.Value(mark{}) != "mine" {
			return errors.New("another context")
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return pool.Ping(ctx)
	}}, charge())
	ctx := context.WithValue(context.Background(), mark{}, "mine")
	in := []any{int64(1), int64(1)}
	if _, err := s.Call(ctx, "Charge", []any{"t1"}, "k", in, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if meta, err := s.Call(ctx, "Charge", []any{"t1"}, "k", in, nil); err != nil || !meta.Replayed {
				t.Errorf("%v %+v", err, meta)
			}
		})
	}
	wg.Wait()
}

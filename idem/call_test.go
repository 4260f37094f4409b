package idem

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestCallsRunBetweenTransactions(t *testing.T) {
	t.Parallel()
	for _, level := range goLevels {
		t.Run(string(level), func(t *testing.T) {
			op := ride("Ride")
			op.Policy.Isolation = level
			s := newStation(t, op)
			s.till.before = func(_ context.Context, v visit) error {
				if v.what == "Charge" && s.count(t, "SELECT count(*) FROM payments") != int64(v.n) {
					t.Error("what came before the call is not committed")
				}
				if n := s.pool.Stat().AcquiredConns(); n != 0 {
					t.Errorf("%s holds %d connections", v.what, n)
				}
				return nil
			}
			first := s.post("Ride", "k", order1)
			wantStatus(t, first, 201)
			receipt := "r-" + digestKey("t1", "Ride", "k", "Charge", "call")[:8]
			want := `{"ride":{"id":1,"order_id":"o1","amount":5,"note":"` + receipt + `","status":"paid"},"fee":3}`
			if first.Body.String() != want || first.Header().Get("Location") != "/v1/rides/1" {
				t.Errorf("%s %v\nwant %s", first.Body, first.Header(), want)
			}
			sameAnswer(t, first, s.post("Ride", "k", order1))
			s.settled(t)
			s.till.want(t, 1, 1, 0, 0)
			wantCode(t, s.post("Ride", "k", `{"order_id": "o2", "amount": 5}`), 422, "key-reused")
			wantStatus(t, s.post("Ride", "k2", `{"order_id": "o2", "amount": 5}`), 201)
		})
	}
}

func digestKey(scope, name, key, at, what string) string {
	inv := &invocation{op: &operation{stored: "shop." + name}, scope: scope, key: key}
	return inv.callKey(&step{Step: &Step{Name: at}}, what)
}

// The key of a call is of one scope, operation, key, step and purpose.
func TestCallKeysAreApart(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range [][5]string{
		{"t1", "Ride", "k", "Charge", "call"}, {"t2", "Ride", "k", "Charge", "call"}, {"t1", "Other", "k", "Charge", "call"},
		{"t1", "Ride", "k2", "Charge", "call"}, {"t1", "Ride", "k", "Notify", "call"}, {"t1", "Ride", "k", "Charge", "undo"},
		{"t1R", "ide", "k", "Charge", "call"}, {"t1", "Ride", "kx", "Charge", "call"}, {"t1k", "Ride", "x", "Charge", "call"},
	} {
		key := digestKey(id[0], id[1], id[2], id[3], id[4])
		if seen[key] || len(key) != 64 {
			t.Errorf("%v: %s", id, key)
		}
		seen[key] = true
	}
}

// A call costs two transactions, and each of them no more round trips than a
// stepped operation: begin, the steps, commit.
func TestCallRoundTrips(t *testing.T) {
	pool, counter := idemtest.PoolCounting(t, shopTables)
	s := openStation(t, pool, &till{}, nil, ride("Ride"))
	send := func(i int) func() {
		return func() {
			wantStatus(t, s.post("Ride", fmt.Sprint("k", i), fmt.Sprintf(`{"order_id": "o%d", "amount": 1}`, i)), 201)
		}
	}
	send(0)()
	for i := 1; i < 4; i++ {
		// Three transactions of one step each.
		if n := counter.Count(send(i)); n != 3*(1+1+1) {
			t.Errorf("%d round trips", n)
		}
		if n := counter.Count(send(i)); n != 2 {
			t.Errorf("a replay: %d round trips", n)
		}
	}
}

// An operation that begins with a call commits that it did.
func TestCallFirst(t *testing.T) {
	t.Parallel()
	pool, counter := idemtest.PoolCounting(t, shopTables)
	op := ride("Ride")
	op.Steps = op.Steps[1:3]
	op.Steps[0].Args = []Arg{{From: ArgField, Field: 1}, {From: ArgField, Field: 1}, {From: ArgUUID4}}
	op.Answer = Answer{Kind: "step", Step: 0}
	s := openStation(t, pool, &till{}, nil, op)
	s.till.before = func(context.Context, visit) error {
		if n := s.count(t, "SELECT count(*) FROM idem.work w JOIN idem.keys k USING (scope, digest) WHERE k.status = 0 AND k.expires_at = 'infinity' AND w.step = 0"); n != 1 {
			t.Errorf("%d are written down", n)
		}
		return nil
	}
	first := s.post("Ride", "k", order1)
	wantStatus(t, first, 201)
	if !strings.Contains(first.Body.String(), `"fee":3`) {
		t.Error(first.Body)
	}
	s.till.before = nil
	if n := counter.Count(func() { wantStatus(t, s.post("Ride", "k2", order1), 201) }); n != 2+3 {
		t.Errorf("%d round trips", n)
	}
}

// The client gets the declared problem of a call that is refused, and so does
// every repetition.
func TestCallRefused(t *testing.T) {
	s := newStation(t, ride("Ride"))
	s.till.before = func(context.Context, visit) error { return fmt.Errorf("charge: %w", Fail(402, "declined", "")) }
	first := s.post("Ride", "k", order1)
	wantCode(t, first, 402, "declined")
	if !strings.Contains(first.Body.String(), "The card is declined") {
		t.Errorf("not the declared title: %s", first.Body)
	}
	sameAnswer(t, first, s.post("Ride", "k", order1))
	s.till.want(t, 1, 0, 0, 0)
	if n := s.count(t, "SELECT count(*) FROM idem.work"); n != 0 {
		t.Errorf("%d unfinished", n)
	}
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 1 { // committed before the call
		t.Errorf("%d payments", n)
	}
}

// Nobody knows whether a call was done: it is made again with the same key, and
// with the same inputs, also those that the server made.
func TestCallUnknownIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fail func() error
	}{
		{"error", func() error { return errors.New("secret") }},
		{"not a definite refusal", func() error { return Fail(429, "slow_down", "") }},
		{"refused with a success", func() error { return Fail(200, "done", "") }},
		{"panic", func() error { panic("secret") }},
		{"not done", func() error { return NotDone(errors.New("secret")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStation(t, ride("Ride"))
			s.till.after = func(_ context.Context, v visit) error {
				if v.n == 1 && v.what == "Charge" {
					return c.fail()
				}
				return nil
			}
			w := s.post("Ride", "k", order1)
			wantCode(t, w, 503, "unavailable")
			if strings.Contains(w.Body.String(), "secret") || w.Header().Get("Retry-After") == "" || w.Header().Get("X-Should-Retry") != "true" {
				t.Errorf("%s %v", w.Body, w.Header())
			}
			wantStatus(t, s.post("Ride", "k", order1), 201)
			s.till.want(t, 2, 1, 0, 0)
			s.settled(t)
			if a, b := s.till.visits[0], s.till.visits[1]; a.key != b.key || a.nonce != b.nonce || a.nonce == "" {
				t.Errorf("the calls differ: %+v, %+v", a, b)
			}
		})
	}
}

// The function's context ends with the operation's timeout; the lease does not
// outlive it for long.
func TestCallTimesOut(t *testing.T) {
	t.Parallel()
	op := ride("Ride")
	op.Policy.Timeout = 150_000_000
	s := newStation(t, op)
	s.till.before = func(ctx context.Context, v visit) error {
		if v.n > 1 || v.what == "Notify" {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	s.await(t, 1, "SELECT count(*) FROM idem.work WHERE owner IS NULL AND tries = 1")
	op.Policy.Timeout *= 100
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.settled(t)
}

// Results that a function must not give are found before they are used.
func TestCallWithWrongResults(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	opts := s.till.options()
	opts.Call["Charge"] = func(context.Context, string, func(...any) error) ([]any, error) { return []any{nil, nil}, nil }
	s = openStation(t, s.pool, s.till, func(o *Options) { *o = opts }, ride("Ride"))
	wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE step = 1 AND tries = 1"); n != 1 {
		t.Errorf("%d unfinished", n)
	}
}

func TestNewRefusesDurableOperationsThatCantBe(t *testing.T) {
	pool := idemtest.Pool(t)
	for want, change := range map[string]func(op *Operation){
		"needs a key":                    func(op *Operation) { op.Key = Key{} },
		"can't be forced":                func(op *Operation) { op.Policy.Force = true },
		"record=sealed does not go with": func(op *Operation) { op.Policy.Sealed = true },
		"must be Stepped":                func(op *Operation) { op.Strategy = Fused },
		"Options.Go.Elsewhere is nil: it is of step Charge of Ride": func(op *Operation) { op.Steps[1].Call.Undo = "Elsewhere" },
		"Options.Go.Nowhere is nil":                                 func(op *Operation) { op.Steps[3].Call.Func = "Nowhere" },
		"a call can't run per element":                              func(op *Operation) { op.Steps[1].Each = 1 },
	} {
		op := ride("Ride")
		change(op)
		_, err := New(pool, shopConfig(op), shopCaller, (&till{}).options())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Without a key the same path is taken, under one that nobody knows.
func TestCallWithoutKey(t *testing.T) {
	t.Parallel()
	op := ride("Ride")
	op.Key.Required = false
	s := newStation(t, op)
	s.till.after = func(_ context.Context, v visit) error {
		if v.n == 1 && v.what == "Charge" {
			return errors.New("lost")
		}
		return nil
	}
	wantCode(t, s.post("Ride", "", order1), 503, "unavailable")
	s.run(t)
	s.await(t, 0, "SELECT count(*) FROM idem.work")
	s.settled(t)
}

// From Go as over HTTP.
func TestCallFromGo(t *testing.T) {
	s := newStation(t, ride("Ride"))
	in := []any{"o1", int64(5), nil}
	var id int64
	out := []OutputColumn{{Path: "ride.id", Kind: KindInt8, Into: &id}}
	for _, replayed := range []bool{false, true} {
		meta, err := s.Call(t.Context(), "Ride", []any{"t1"}, "k", in, out)
		if err != nil || meta.Replayed != replayed || id != 1 {
			t.Fatalf("%v %+v %d", err, meta, id)
		}
	}
	s.settled(t)
}

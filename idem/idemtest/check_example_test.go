package idemtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// from answers with a status and a body from the request number n on, before
// which it does what h does.
func from(n int64, h http.Handler, status int, body string) http.Handler {
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) < n {
			h.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// wrapped puts a handler around the kit's.
func wrapped(kit *Kit, around func(http.Handler) http.Handler) {
	inner := kit.Handler
	kit.Handler = func(t testing.TB, pool *pgxpool.Pool) http.Handler { return around(inner(t, pool)) }
}

// An example that works once would fail nearly every check. That is found out
// before them, and the message says which inputs have to differ.
func TestExamplesThatWorkOnlyOnceAreFoundOut(t *testing.T) {
	const gone = `{"code": "not-found"}`
	constant := func(kit *Kit) { kit.Operations[0].Inputs[1].Fresh = false }
	cases := map[string]struct {
		careful careful
		change  func(*Kit)
		says    []string
	}{
		"gone": {careful{}, func(kit *Kit) {
			wrapped(kit, func(h http.Handler) http.Handler { return from(2, h, 404, gone) })
		}, []string{"only once: another request like it, under another key, is answered with 404 " + gone, "Fixtures must Set body.amount from Fixture.N"}},
		"gone, by its path": {careful{}, func(kit *Kit) {
			kit.Operations[0].Path, kit.Operations[0].Inputs = "/v1/payments/{id}", append(kit.Operations[0].Inputs, Input{Name: "path.id", Value: "1"})
			wrapped(kit, func(h http.Handler) http.Handler { return from(2, h, 404, gone) })
		}, []string{"Fixtures must Set path.id from"}},
		"everything differs": {careful{}, func(kit *Kit) {
			kit.Operations[0].Inputs = kit.Operations[0].Inputs[1:] // the other one is constant
			wrapped(kit, func(h http.Handler) http.Handler { return from(2, h, 409, `{"code": "full"}`) })
		}, []string{"409 {\"code\": \"full\"}\nFixtures must make what each request needs"}},
		"intent": {careful{intent: true}, constant,
			[]string{"409", "since it has the business intent of the first one", "Set one of body.amount, body.reference from"}},
		"return": {careful{intent: true, returns: true}, constant, []string{"201", "since it has the business intent of the first one", "body.reference from"}},
		"key of other inputs": {careful{broken: broken{recordsUnkeyed: true, keyless: true}}, func(kit *Kit) {
			constant(kit)
			kit.Operations[0].Key, kit.Operations[0].Inputs[1].Keyed = KeyDerived, true
		}, []string{"since its key is made of inputs that are the same", "Set body.reference from"}},
		"another effect": {careful{}, func(kit *Kit) {
			counts := []int64{0, 1, 1, 3}
			kit.Operations[0].Count = func(context.Context, *pgxpool.Pool) (n int64, err error) {
				n, counts = counts[0], counts[1:]
				return n, nil
			}
		}, []string{"has another effect: rows changed: 1, then 2"}},
		"one caller": {careful{}, func(kit *Kit) {
			wrapped(kit, func(h http.Handler) http.Handler { return from(3, h, 404, gone) })
		}, []string{"for caller a only: the same of caller b is answered with 404", "Fixture.Caller, and Set body.amount;"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			kit := carefulKit(t, c.careful, carefulSweep)
			c.change(&kit)
			found := findings(t, kit)
			if !errors.As(found[exampleCheck], new(skip)) {
				t.Fatalf("%v", found)
			}
			for _, part := range append(c.says, whereFixtures) {
				if got := found[exampleCheck].Error(); !strings.Contains(got, part) {
					t.Errorf("%q is not in %s", part, got)
				}
			}
		})
	}
}

// What is a fault of the service is no reason to skip.
func TestFaultsAreNoExamplesThatWorkOnlyOnce(t *testing.T) {
	for says, around := range map[string]func(http.Handler) http.Handler{
		"another request like it, under another key, is answered with 500": func(h http.Handler) http.Handler { return from(2, h, 500, "") },
		"the same of caller b is answered with 500":                        func(h http.Handler) http.Handler { return from(3, h, 500, "") },
		"is answered with 422":                                             func(h http.Handler) http.Handler { return from(2, h, 422, `{"code": "key-reused"}`) },
		"is answered with a replay": func(h http.Handler) http.Handler {
			var sent atomic.Bool
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if sent.CompareAndSwap(false, true) {
					h.ServeHTTP(w, r)
					return
				}
				w.Header().Set(protocols["ietf"].marker, protocols["ietf"].replay)
				w.WriteHeader(http.StatusCreated)
			})
		},
	} {
		kit := carefulKit(t, careful{}, carefulSweep)
		wrapped(&kit, around)
		err := findings(t, kit)[exampleCheck]
		if err == nil || skipped(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A read whose example is refused is not checked, and so says.
func TestRefusedReadsAreNotPassed(t *testing.T) {
	kit := carefulKit(t, careful{keyFree: true}, carefulSweep)
	wrapped(&kit, func(h http.Handler) http.Handler { return from(1, h, 404, `{"code": "not-found"}`) })
	for _, c := range []struct {
		fixtures func(testing.TB, *Fixture)
		allowed  []string
		skipped  bool
	}{
		{nil, nil, true},
		{kit.Fixtures, nil, false},
		{kit.Fixtures, []string{"Pay"}, true},
	} {
		kit := kit
		kit.Fixtures, kit.AllowSkipped = c.fixtures, c.allowed
		kit.URL = URL(t, carefulTables)
		err := findings(t, kit)[unkeyedCheck]
		if err == nil || errors.As(err, new(skip)) != c.skipped || !strings.Contains(err.Error(), `it answers 404 {"code": "not-found"}`) {
			t.Errorf("fixtures %t, allowed %v: %v", c.fixtures != nil, c.allowed, err)
		}
	}
}

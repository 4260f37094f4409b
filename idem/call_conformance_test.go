package idem

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Operations with calls and async ones keep the promises of all others.
func TestDurableConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the conformance kit")
	}
	for _, profile := range []Profile{ProfileIETF, ProfileGateway} {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel() // most of the time copies wait until they give up
			idemtest.Conformance(t, durableKit(t, profile))
		})
	}
}

func durableKit(t *testing.T, profile Profile) idemtest.Kit {
	payout := payout()
	payout.Policy.Wait, payout.Policy.Tombstone = 0, true
	ops := []*Operation{ride("Ride"), payout}
	ops[0].Policy.Wait = 2 * time.Second // less than the kit waits, so that it hears what copies are told then
	for _, op := range ops {             // any number of them, and one that pays nothing is refused by a step
		op.SQL = strings.Replace(op.SQL, "balance - $1", "balance + $1", 1)
		op.Steps[0].Errors = []ErrorRule{{Constraint: "payments_amount_check", Problem: Problem{422, "amount_not_positive", ""}}}
	}
	operation := func(name, path string) idemtest.Operation {
		return idemtest.Operation{
			Name: name, Method: http.MethodPost, Path: path, Body: order1, Key: idemtest.KeyRequired,
			Inputs: []idemtest.Input{
				{Name: "body.order_id", Fresh: true}, {Name: "body.amount", Type: idemtest.Number, Other: "6"},
			},
			Writes: []string{"public.payments", "public.accounts"},
			Kept:   idemtest.Kept{Success: 24 * time.Hour, ClientError: 2 * time.Hour},
		}
	}
	rides, payouts := operation("Ride", "/v1/rides"), operation("Payout", "/v1/payouts")
	rides.Calls, payouts.Async, payouts.Calls, payouts.Tombstone, payouts.Rejects = true, true, true, true, true
	return idemtest.Kit{
		URL: idemtest.URL(t, shopTables), Profile: string(profile), Operations: []idemtest.Operation{rides, payouts},
		Handler: func(t testing.TB, pool *pgxpool.Pool) http.Handler { return durableHandler(t, pool, profile, ops) },
		As:      func(r *http.Request, caller string) { r.Header.Set("X-Tenant", caller) },
		Fixtures: func(_ testing.TB, f *idemtest.Fixture) {
			if f.Refused {
				f.Set("body.amount", -1)
			}
		},
		Sweep: func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
			_, err := (&Sweeper{Pool: pool, Batch: batch}).Sweep(ctx)
			return err
		},
	}
}

// durableHandler is a process: it serves, and completes.
func durableHandler(t testing.TB, pool *pgxpool.Pool, profile Profile, ops []*Operation) http.Handler {
	t.Helper()
	config := shopConfig(ops...)
	config.Profile = profile
	opts := (&till{}).options()
	opts.Sweeper.Interval = time.Hour // the kit sweeps
	service, err := New(pool, config, shopCaller, opts)
	if err != nil {
		t.Fatal(err)
	}
	(&station{shop: &shop{service, pool, nil}}).run(t)
	mux := http.NewServeMux()
	for _, op := range ops {
		mux.Handle(op.Path, service.Handler(op.Name))
	}
	return mux
}

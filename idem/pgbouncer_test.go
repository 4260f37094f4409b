package idem

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// shopKit describes the shop with an operation per strategy to the conformance kit.
func shopKit(t testing.TB) idemtest.Kit {
	amount := idemtest.Input{Name: "body.amount", Type: idemtest.Number, Other: "2"}
	id := idemtest.Input{Name: "path.id", Value: "1", Other: "2"}
	kept := idemtest.Kept{Success: 24 * time.Hour, ClientError: 2 * time.Hour}
	return idemtest.Kit{
		URL: idemtest.URL(t, shopTables, "UPDATE accounts SET balance = 1000000",
			"INSERT INTO jobs SELECT FROM generate_series(1, 2000)"),
		Handler: func(t testing.TB, pool *pgxpool.Pool) http.Handler {
			ops := []*Operation{createPayment("Create", patience, true), charge(), takeJob(), transfer("Transfer", ReadCommitted)}
			for _, op := range ops {
				op.Policy.Wait = 2 * time.Second // less than the kit waits, so that it hears what they are told then
			}
			return openShop(t, pool, ops...).mux
		},
		As: func(r *http.Request, caller string) { r.Header.Set("X-Tenant", caller) },
		Operations: []idemtest.Operation{
			{Name: "Create", Method: "POST", Path: "/Create/1", Body: `{"order_id": "o", "amount": 1}`, Intent: true,
				Inputs: []idemtest.Input{amount, {Name: "body.order_id", Other: `"p"`, Fresh: true}}, Kept: kept, Writes: []string{"public.payments"}},
			{Name: "Charge", Method: "POST", Path: "/Charge/{id}", Body: bodyFor("Charge"),
				Inputs: []idemtest.Input{amount, id}, Kept: kept, Writes: []string{"public.accounts"}},
			{Name: "TakeJob", Method: "POST", Path: "/TakeJob/1", Kept: kept, Writes: []string{"public.jobs"}},
			{Name: "Transfer", Method: "POST", Path: "/Transfer/1", Body: bodyFor("Transfer"),
				Inputs: []idemtest.Input{amount}, Kept: kept, Writes: []string{"public.accounts"}},
		},
		Sweep: func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
			_, err := (&Sweeper{Pool: pool, Batch: batch}).Sweep(ctx)
			return err
		},
		Fixtures: func(_ testing.TB, f *idemtest.Fixture) {
			if f.Refused && (f.Operation == "Charge" || f.Operation == "Transfer") {
				f.Set("body.amount", 10_000_000) // more than there is
			}
		},
		Duplicates: 50,
	}
}

// 50 clients on 5 server connections of a PgBouncer in transaction mode.
func TestCase_db_3(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the conformance kit four times")
	}
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel() // most of the time copies wait until they give up
			kit := shopKit(t)
			through := idemtest.PgBouncer(t, kit.URL, 5)
			kit.Connect = func(config *pgxpool.Config) {
				through(config)
				config.ConnConfig.DefaultQueryExecMode = mode
				config.MaxConns = 25 // of each of two instances
			}
			idemtest.Conformance(t, kit)
		})
	}
}

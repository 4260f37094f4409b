package api

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// db-3: 50 clients on 5 server connections of a PgBouncer in transaction mode,
// for every way in which pgx sends statements that the service takes. The pooler
// may know nothing of prepared statements.
func TestCase_db_3(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the conformance kit four times")
	}
	idemtest.Standalone(t)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel() // most of the time copies wait until they give up
			url := idemtest.Migrated(t, "../../db/migrations")
			through := idemtest.PgBouncer(t, url, 5)
			kit := idemtest.Kit{
				URL:        url,
				Handler:    conformanceHandler,
				Operations: conformanceOperations(),
				Fixtures:   conformanceFixtures,
				Duplicates: 50,
				Sweep: func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
					_, err := (&idem.Sweeper{Pool: pool, Batch: batch}).Sweep(ctx)
					return err
				},
				Connect: func(config *pgxpool.Config) {
					through(config)
					config.ConnConfig.DefaultQueryExecMode = mode
					config.MaxConns = 25 // of each of two instances
				},
			}
			idemtest.Conformance(t, kit)
		})
	}
}

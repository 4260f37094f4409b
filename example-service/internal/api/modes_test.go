package api

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// db-4: every way in which pgx sends statements keeps the same promises.
func TestCase_db_4_conformance(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the conformance kit three times")
	}
	idemtest.Standalone(t)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel() // most of the time copies wait until they give up
			idemtest.Conformance(t, idemtest.Kit{
				URL:        idemtest.Migrated(t, "../../db/migrations"),
				Handler:    conformanceHandler,
				Operations: conformanceOperations(),
				Fixtures:   conformanceFixtures,
				Connect:    func(config *pgxpool.Config) { config.ConnConfig.DefaultQueryExecMode = mode },
			})
		})
	}
}

package idemtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// PgBouncer starts the installed PgBouncer in transaction mode in front of the
// database at url, with at most connections server connections, until the end of
// the test. What it returns makes a pool's connections go through it, as in
// Kit.Connect. It skips the test where PgBouncer is not installed.
func PgBouncer(t testing.TB, url string, connections int) func(*pgxpool.Config) {
	t.Helper()
	if !pgserver.BouncerInstalled() {
		t.Skip("pgbouncer is not installed: Debian's package is pgbouncer")
	}
	bouncer, err := pgserver.StartBouncer(context.Background(), url, connections)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(func() {
		if err := bouncer.Stop(); err != nil {
			t.Errorf("idemtest: %v", err)
		}
	})
	pooled, err := pgxpool.ParseConfig(bouncer.URL())
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	return func(config *pgxpool.Config) {
		to, from := config.ConnConfig, pooled.ConnConfig
		to.Host, to.Port, to.Database, to.User, to.Password = from.Host, from.Port, from.Database, from.User, from.Password
		to.TLSConfig, to.Fallbacks = nil, nil
	}
}

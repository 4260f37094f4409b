package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// expiredKeys are in the database SWEEP_URL of the scripts.
const expiredKeys = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	SELECT 's', decode(md5(i::text), 'hex'), 'o', 'k' || i, '', 200,
		clock_timestamp() + CASE WHEN i <= 105 THEN '-1 hour' ELSE '1 hour' END::interval
	FROM generate_series(1, 110) i`

// TestPostgresScripts generates services and runs their tests on PostgreSQL:
// the server of IDEMGEN_TEST_DATABASE_URL, or a private one.
func TestPostgresScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc, the Go command and PostgreSQL")
	}
	const serverURL = "IDEMGEN_TEST_DATABASE_URL"
	if os.Getenv(serverURL) == "" && !pgserver.Installed() {
		t.Skip("there is no PostgreSQL for tests: set " + serverURL + ", or install the server")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	idemtest.Standalone(t)
	sweepURL := idemtest.URL(t, expiredKeys)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/postgres",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv(serverURL, os.Getenv(serverURL))
			// The server's user may not be able to enter the script's own folder.
			env.Setenv("TMPDIR", os.TempDir())
			env.Setenv("SWEEP_URL", sweepURL)
			return setup(env, root)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "snapshot": snapshot, "unchanged": unchanged},
	})
}

package idemtest

import (
	"os"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

// testURL names a server for tests alone. Every test makes a database there.
const testURL = "IDEMGEN_TEST_DATABASE_URL"

// Standalone makes a database server ready for t, in a package whose tests are
// not run by Main: the one of IDEMGEN_TEST_DATABASE_URL, or a private one that
// ends with t. It skips t where neither the variable is set nor PostgreSQL's
// server is installed. DATABASE_URL is left alone: it may be in use.
func Standalone(t testing.TB) {
	t.Helper()
	if os.Getenv(testURL) == "" && !pgserver.Installed() {
		t.Skip("there is no PostgreSQL for tests: set " + testURL + ", or install the server")
	}
	shared.hold()
	t.Cleanup(func() {
		if err := shared.release(); err != nil {
			t.Errorf("idemtest: %v", err)
		}
	})
}

// Package idemtest gives tests a PostgreSQL database each: on the server of
// IDEMGEN_TEST_DATABASE_URL or DATABASE_URL if one is set, else on a private one
// per test process. Conformance checks a service against the promises of
// docs/semantics.md.
package idemtest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests, from TestMain. It fails where goroutines are
// left over, apart from those that an option of goleak names, and ends the private
// server.
func Main(m *testing.M, ignore ...goleak.Option) {
	shared.managed = true
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "idemtest:", err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(ignore...); err != nil {
			fmt.Fprintln(os.Stderr, "idemtest:", err)
			code = 1
		}
	}
	os.Exit(code)
}

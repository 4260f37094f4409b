// Package idemtest gives tests a PostgreSQL database each: on the server of
// DATABASE_URL if that is set, else on a private one per test process.
package idemtest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests, from TestMain. It fails where goroutines are
// left over, and ends the private server.
func Main(m *testing.M) {
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "idemtest:", err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "idemtest:", err)
			code = 1
		}
	}
	os.Exit(code)
}

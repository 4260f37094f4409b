package spec

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// TestHeadersOfEveryProfileAreTheRuntimes: a service may change its profile, so
// @header takes none of them.
func TestHeadersOfEveryProfileAreTheRuntimes(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "Idempotent-Replayed", "X-Idempotency-Status", "Retry-After", "X-Should-Retry"} {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			diags := &diag.List{}
			ParseQueryFile("q.sql", "-- name: Pay :one\n-- @http POST /x\n-- @header "+spelling+" \"{id}\"\nSELECT 1;\n", diags)
			found := diags.Sorted()
			if len(found) != 1 || found[0].Code != diag.HeaderForm || !strings.Contains(found[0].Message, "the runtime sets it") {
				t.Errorf("%s: %v", spelling, found)
			}
		}
	}
}

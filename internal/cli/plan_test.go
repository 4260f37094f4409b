package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// TestPlanExplainsWithoutExecuting: every statement of every operation of the
// example service, and the tables stay empty.
func TestPlanExplainsWithoutExecuting(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	const service = "../../example-service"
	url := idemtest.Migrated(t, service+"/db/migrations")
	pool := idemtest.Open(t, url, func(*pgxpool.Config) {})
	for _, name := range []string{"CreatePayment", "PlaceOrder", "CreateTransfer", "ListPayments"} {
		code, stdout, stderr := exec(t, Env{}, "plan", name, "-C", service, "--db", url, "--format", "json")
		var out planJSON
		if err := json.Unmarshal([]byte(stdout), &out); err != nil || code != exitOK {
			t.Fatalf("%s: %d %v\n%s", name, code, err, stderr)
		}
		for _, s := range out.Statements {
			if len(s.Explain) == 0 || !strings.Contains(s.Explain[0], "cost=") {
				t.Errorf("%s, statement %s: %v", name, s.Name, s.Explain)
			}
		}
	}
	for _, table := range []string{"payments", "idem.keys", "transfers", "orders"} {
		var n int
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows: %v", table, n, err)
		}
	}
	var left int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_prepared_statements WHERE name = 'idemgen_plan'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d prepared statements are left: %v", left, err)
	}
	code, stdout, _ := exec(t, Env{}, "plan", "CreatePayment", "-C", service, "--db", url)
	if code != exitOK || !strings.Contains(stdout, "\n-- EXPLAIN\n--   ") {
		t.Errorf("%d\n%s", code, stdout)
	}
	code, _, stderr := exec(t, Env{}, "plan", "CreatePayment", "-C", service, "--db", idemtest.URL(t))
	if code != exitFailed || !strings.Contains(stderr, "apply the service's migrations") {
		t.Errorf("%d\n%s", code, stderr)
	}
}

package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/lint"
)

var service = map[string]string{
	"go.mod": "module example.com/risky\n\ngo 1.25\n",
	"idemgen.yaml": `version: 1
service: risky
sqlc: [sqlc.yaml]
migrations: m
package: api
out: api
scope: caller.tenant_id
bind: {tenant_id: caller.tenant_id}
`,
	"sqlc.yaml": `version: "2"
sql:
  - engine: postgresql
    schema: m
    queries: q
    gen:
      go: {package: db, out: db, sql_package: pgx/v5}
`,
	"m/00001_payments.sql": `-- +goose Up
CREATE TABLE payments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    order_id text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency varchar(3) NOT NULL DEFAULT 'EUR',
    api_token text NOT NULL DEFAULT ''
);
CREATE TABLE accounts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    number text NOT NULL,
    balance bigint NOT NULL,
    UNIQUE (tenant_id, number)
);
`,
}

// risks generates a service of these queries and lints it.
func risks(t *testing.T, allow lint.Allowed, queries string, more ...string) []diag.Diagnostic {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"q/q.sql": queries + "\n"}
	for name, text := range service {
		all[name] = text
	}
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	for name, text := range all {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := generator.Run(t.Context(), generator.Options{Dir: dir, DryRun: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, queries)
	}
	var diags diag.List
	lint.Check(result.Service, result.Catalog, allow, &diags)
	return diags.Sorted()
}

func codes(ds []diag.Diagnostic) []diag.Code {
	var out []diag.Code
	for _, d := range ds {
		out = append(out, d.Code)
	}
	return slices.Compact(out)
}

// TestExplanationsOfRisksAreTrue: the wrong example of `idemgen explain` has the
// risk and no other, the right one has none.
func TestExplanationsOfRisksAreTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	for _, code := range []diag.Code{diag.RiskNoIntent, diag.RiskUnscoped, diag.RiskKey, diag.RiskLockOrder, diag.RiskSession, diag.RiskUnbounded, diag.RiskKeptSecret} {
		t.Run(string(code), func(t *testing.T) {
			e, _ := diag.Explain(code)
			if got := risks(t, nil, e.Wrong); !slices.Equal(codes(got), []diag.Code{code}) {
				t.Errorf("the wrong example has %v", got)
			} else if got[0].Pos.Line == 0 || got[0].Hint == "" || got[0].Severity != diag.Warning {
				t.Errorf("it has no place, or no way out: %+v", got[0])
			}
			if got := risks(t, nil, e.Right); len(got) > 0 {
				t.Errorf("the right example has %v", got)
			}
		})
	}
}

func TestAllowedRisksArePassedOver(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	e, _ := diag.Explain(diag.RiskNoIntent)
	for _, c := range []struct {
		operations []string
		want       int
	}{{nil, 0}, {[]string{"CreatePayment"}, 0}, {[]string{"Other"}, 1}} {
		if got := risks(t, lint.Allowed{diag.RiskNoIntent: c.operations}, e.Wrong); len(got) != c.want {
			t.Errorf("allowed for %v: %v", c.operations, got)
		}
	}
}

const accounts = `-- name: LockAccounts :many
SELECT id FROM accounts WHERE tenant_id = @tenant_id AND number = ANY(@numbers::text[]) ORDER BY id FOR UPDATE;

-- name: Rebook :exec
UPDATE accounts SET balance = balance + @delta::bigint WHERE tenant_id = @tenant_id AND number = ANY(@numbers::text[]);

-- name: Touch :exec
UPDATE accounts SET balance = balance + 1 WHERE tenant_id = @tenant_id AND number = @number;

-- name: Correct :exec
UPDATE payments SET amount = amount + 1 WHERE tenant_id = @tenant_id AND id = @id;
`

// TestLockOrders: rows that a step before has locked in order, one row of a
// unique index, and tables in opposite orders.
func TestLockOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	for _, c := range []struct {
		name, spec string
		want       []string // parts of the messages
	}{
		{"locked before", "  A: {http: POST /a, steps: [{query: LockAccounts}, {query: Rebook}]}\n", nil},
		{"not locked before", "  A: {http: POST /a, steps: [{query: Rebook}]}\n", []string{"any number of rows of accounts"}},
		{"one row", "  A: {http: POST /a, steps: [{query: Touch}]}\n", nil},
		{"in the client's order", "  A: {http: POST /a, steps: [{query: Touch, each: body.list, bind: {number: item.number}}]}\n", []string{"in which the client lists them"}},
		{"same order", "  A: {http: POST /a, steps: [{query: Touch}, {query: Correct}]}\n  B: {http: POST /b, steps: [{query: Touch}, {query: Correct}]}\n", nil},
		{"crossing", "  A: {http: POST /a, steps: [{query: Touch}, {query: Correct}]}\n  B: {http: POST /b, steps: [{query: Correct}, {query: Touch}]}\n", []string{"rows of payments before those of accounts, and A does it the other way"}},
		{"a call between", "  A: {http: POST /a, steps: [{query: Touch}, {call: Ask, request: {n: int}}, {query: Correct}]}\n  B: {http: POST /b, steps: [{query: Correct}, {query: Touch}]}\n", nil},
		{"locked before a call", "  A: {http: POST /a, steps: [{query: LockAccounts}, {call: Ask, request: {n: int}}, {query: Rebook}]}\n", []string{"any number of rows of accounts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := risks(t, nil, accounts, "idemgen.yaml", service["idemgen.yaml"]+"specs: [e.yaml]\n", "e.yaml", "endpoints:\n"+c.spec)
			if len(got) != len(c.want) {
				t.Fatalf("got %v", got)
			}
			for i, want := range c.want {
				if got[i].Code != diag.RiskLockOrder || !strings.Contains(got[i].Message, want) {
					t.Errorf("got %v, want %q", got[i], want)
				}
			}
		})
	}
}

func TestSessionFunction(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT pg_advisory_lock(1)":                              "pg_advisory_lock",
		"SELECT pg_catalog.pg_advisory_lock (1)":                  "pg_advisory_lock",
		"SELECT pg_advisory_xact_lock(1)":                         "",
		"SELECT set_config('a', f(1, false), true)":               "",
		"SELECT set_config('a', 'b', FALSE)":                      "set_config",
		"SELECT 'pg_advisory_lock(1)' -- pg_advisory_lock(1)":     "",
		"SELECT pg_advisory_lock FROM t":                          "",
		"SELECT nextval('s'), currval('s')":                       "currval",
		"SELECT set_config('a', (SELECT b FROM t LIMIT 1), true)": "",
	} {
		if got := lint.SessionFunction(sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

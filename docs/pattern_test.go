package docs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

const paymentsTable = `
CREATE TABLE payments (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    order_id  text NOT NULL,
    status    text NOT NULL DEFAULT 'authorized'
);
`

// voidPayment is the example of language.md that tells 404 from 409.
func voidPayment(t *testing.T) string {
	t.Helper()
	for _, b := range readPage(t, "language.md").blocks {
		if strings.Contains(b.text, "-- name: VoidPayment ") {
			return b.text
		}
	}
	t.Fatal("language.md has no VoidPayment")
	return ""
}

// TestNotFoundOrConflictGenerates runs the generator on the example.
func TestNotFoundOrConflictGenerates(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/payments\n\ngo 1.25\n",
		"idemgen.yaml": "version: 1\nmigrations: m\nout: api\nscope: caller.tenant_id\nbind: {tenant_id: caller.tenant_id}\n",
		"sqlc.yaml":    "version: \"2\"\nsql:\n  - {engine: postgresql, schema: m, queries: q, gen: {go: {out: db, sql_package: pgx/v5}}}\n",
		"m/001_p.sql":  "-- +goose Up" + paymentsTable,
		"q/p.sql":      voidPayment(t),
	} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := generator.Run(context.Background(), generator.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Warnings) > 0 || len(result.Operations) != 1 || result.Operations[0].Strategy == plan.Stepped {
		t.Errorf("warnings %v, %d operations", result.Warnings, len(result.Operations))
	}
}

// TestNotFoundOrConflictHolds runs the example's SQL: no row for what is not
// there, false for the wrong state, also where two come at once.
func TestNotFoundOrConflictHolds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pool := idemtest.Pool(t, paymentsTable+"INSERT INTO payments (tenant_id, order_id) VALUES ('a', 'o1');")
	sql := strings.NewReplacer("@tenant_id", "$1", "@id", "$2").Replace(voidPayment(t))
	type answer struct {
		voidable bool
		err      error
	}
	void := func(q interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}, tenant string) (a answer) {
		a.err = q.QueryRow(ctx, sql, tenant, 1).Scan(nil, nil, &a.voidable)
		return a
	}
	if a := void(pool, "b"); a.err != pgx.ErrNoRows {
		t.Errorf("another tenant's payment: %+v", a)
	}
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if a := void(tx, "a"); a.err != nil || !a.voidable {
		t.Fatalf("the first: %+v", a)
	}
	second := make(chan answer, 1)
	go func() { second <- void(pool, "a") }()
	waitForWaiter(ctx, t, pool)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if a := <-second; a.err != nil || a.voidable {
		t.Errorf("the second, which waited: %+v", a)
	}
	var status string
	if err := pool.QueryRow(ctx, "SELECT status FROM payments").Scan(&status); err != nil || status != "voided" {
		t.Errorf("status %s, %v", status, err)
	}
}

// waitForWaiter returns when a session of the database waits for another's locks.
func waitForWaiter(ctx context.Context, t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for waits := false; !waits; {
		const blocked = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pg_blocking_pids(pid) <> '{}')"
		if err := pool.QueryRow(ctx, blocked).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
}

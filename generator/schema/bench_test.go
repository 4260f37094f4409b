package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// bigService is 100 tables and 300 queries.
func bigService() (files []File, queries []string) {
	for i := range 100 {
		files = append(files, File{Path: fmt.Sprintf("m/%05d_t.sql", i+1), Text: strings.ReplaceAll(`-- +goose Up
CREATE TYPE status_# AS ENUM ('new', 'paid', 'void');
CREATE TABLE payments_# (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL,
    order_id text NOT NULL CHECK (order_id <> ''),
    amount numeric(12,2) NOT NULL CHECK (amount > 0),
    currency char(3) NOT NULL DEFAULT 'EUR' CHECK (currency ~ '^[A-Z]{3}$'),
    status status_# NOT NULL DEFAULT 'new',
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, order_id)
);
CREATE INDEX ON payments_# (created_at);
-- +goose Down
DROP TABLE payments_#;
`, "#", fmt.Sprint(i))})
		for _, q := range []string{
			"INSERT INTO payments_# (tenant_id, order_id, amount, currency) VALUES ($1, $2, $3, $4) RETURNING id, order_id, amount, currency, status, created_at",
			"UPDATE payments_# SET status = 'paid', amount = coalesce($3, amount) WHERE tenant_id = $1 AND id = $2 AND status = 'new' RETURNING id, status",
			"SELECT id, order_id, amount, currency, status, created_at FROM payments_# WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
		} {
			queries = append(queries, strings.ReplaceAll(q, "#", fmt.Sprint(i)))
		}
	}
	return files, queries
}

func BenchmarkBigService(b *testing.B) {
	files, queries := bigService()
	for b.Loop() {
		runBigService(b, files, queries)
	}
}

func runBigService(t testing.TB, files []File, queries []string) {
	diags := &diag.List{}
	cat := Build(files, diags)
	for _, q := range queries {
		cat.Analyze(q, diag.Pos{File: "q.sql", Line: 1, Col: 1}, diags)
		for range 10 {
			cat.Type("pg_catalog.int8")
			cat.Type("status_99")
		}
	}
	if got := diags.Sorted(); len(got) > 0 {
		t.Fatal(got)
	}
}

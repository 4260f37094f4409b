package generator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkGenerate is idemgen's own part, sqlc's run apart, for 3 operations on
// each table. Wanted: under 300 ms for 300, and at most 12 times as long for 1,000
// as for 100.
func BenchmarkGenerate(b *testing.B) {
	if testing.Short() {
		b.Skip("runs sqlc")
	}
	for _, tables := range []int{33, 100, 333} {
		b.Run(fmt.Sprintf("%d operations", 3*tables), func(b *testing.B) {
			opts := prepared(b, tables)
			for b.Loop() {
				result, err := Run(b.Context(), opts)
				if err != nil {
					b.Fatal(err)
				}
				if result.Drift() || len(result.Operations) != 3*tables {
					b.Fatalf("drift %v, %d operations", result.Drift(), len(result.Operations))
				}
			}
		})
	}
}

const bigConfig = `version: 1
service: big
sqlc: [sqlc.yaml]
migrations: m
package: api
out: api
scope: caller.tenant_id
bind: {tenant_id: caller.tenant_id}
`

const bigSqlc = `version: "2"
sql:
  - engine: postgresql
    schema: m
    queries: q
    gen:
      go: {package: db, out: db, sql_package: pgx/v5, omit_unused_structs: true}
      json: {out: .sqlc}
`

const bigTable = `-- +goose Up
CREATE TABLE NAME (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    reference varchar(40) NOT NULL,
    amount numeric(12,2) NOT NULL CHECK (amount > 0),
    status text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'done')),
    meta jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, reference)
);
`

const bigQueries = `-- name: CreateNAME :one
-- Record one.
-- @http POST /v1/NAME
-- @intent NAME (tenant_id, reference)
INSERT INTO NAME (tenant_id, reference, amount, meta)
VALUES (@tenant_id, @reference, @amount, sqlc.narg('meta'))
RETURNING id, reference, amount, status, created_at;

-- name: GetNAME :one
-- @http GET /v1/NAME/{id}
SELECT id, reference, amount, status, created_at FROM NAME WHERE id = @id AND tenant_id = @tenant_id;

-- name: FinishNAME :one
-- @http POST /v1/NAME/{id}/finish 200
-- @empty 409 not_new "it is done already"
UPDATE NAME SET status = 'done' WHERE id = @id AND tenant_id = @tenant_id AND status = 'new' RETURNING id, status;
`

func bigService(b testing.TB, dir string, tables int) {
	b.Helper()
	all := map[string]string{"go.mod": "module example.com/big\n\ngo 1.25\n", "idemgen.yaml": bigConfig, "sqlc.yaml": bigSqlc}
	for i := range tables {
		name := fmt.Sprintf("thing%03d", i)
		all[fmt.Sprintf("m/%05d_%s.sql", i+1, name)] = strings.ReplaceAll(bigTable, "NAME", name)
		all["q/"+name+".sql"] = strings.ReplaceAll(bigQueries, "NAME", name)
	}
	for name, text := range all {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

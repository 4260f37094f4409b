package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// generationGroup is how long idemgen takes for services of several sizes, apart
// from sqlc, which it runs.
func generationGroup(ctx context.Context, b *bench) (*section, error) {
	var t strings.Builder
	t.WriteString("One table and its migration for each two operations. *sqlc* is its own run on the same queries, as `go run` starts it; *idemgen* is the rest: " +
		"reading, checking, planning, rendering and comparing every file, of a service that was generated before.\n\n" +
		"| operations | idemgen | sqlc |\n|---:|---:|---:|\n")
	for _, n := range b.operations {
		own, sqlc, err := generationTime(ctx, filepath.Join(b.dir, fmt.Sprintf("generated-%d", n)), n)
		if err != nil {
			return nil, fmt.Errorf("%d operations: %w", n, err)
		}
		fmt.Fprintf(&t, "| %s | %s | %s |\n", thousands(n), own.Round(time.Millisecond), sqlc.Round(time.Millisecond))
	}
	return &section{title: "Generation", text: t.String()}, nil
}

// generationRuns is how often idemgen runs: the median counts.
const generationRuns = 5

func generationTime(ctx context.Context, dir string, operations int) (own, sqlc time.Duration, err error) {
	if err := writeService(dir, operations); err != nil {
		return 0, 0, err
	}
	opts := generator.Options{Dir: dir}
	if _, err := generator.Run(ctx, opts); err != nil { // writes the migrations of the runtime, too
		return 0, 0, err
	}
	began := time.Now()
	command := exec.CommandContext(ctx, "go", "run", sqlcrun.Pinned, "generate")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("sqlc: %w\n%s", err, out)
	}
	sqlc = time.Since(began)
	opts.NoSqlc = true
	var times []float64
	for range generationRuns {
		began := time.Now()
		result, err := generator.Run(ctx, opts)
		if err != nil {
			return 0, 0, err
		}
		if len(result.Operations) != operations {
			return 0, 0, fmt.Errorf("%d operations came out", len(result.Operations))
		}
		times = append(times, float64(time.Since(began)))
	}
	return time.Duration(median(times)), sqlc, nil
}

const serviceConfig = `version: 1
service: generated
sqlc: [sqlc.yaml]
migrations: m
package: api
out: api
scope: caller.tenant_id
bind: {tenant_id: caller.tenant_id}
`

const serviceSqlc = `version: "2"
sql:
  - engine: postgresql
    schema: m
    queries: q
    gen:
      go: {package: db, out: db, sql_package: pgx/v5, omit_unused_structs: true}
      json: {out: .sqlc}
`

const serviceTable = `-- +goose Up
CREATE TABLE NAME (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL,
    reference varchar(40) NOT NULL,
    amount numeric(12,2) NOT NULL CHECK (amount > 0),
    status text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'done')),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, reference)
);
`

const serviceQueries = `-- name: CreateNAME :one
-- Record one.
-- @http POST /v1/NAME
-- @intent NAME (tenant_id, reference)
INSERT INTO NAME (tenant_id, reference, amount) VALUES (@tenant_id, @reference, @amount)
RETURNING id, reference, amount, status, created_at;

-- name: FinishNAME :one
-- @http POST /v1/NAME/{id}/finish 200
-- @empty 409 not_new "it is done already"
UPDATE NAME SET status = 'done' WHERE id = @id AND tenant_id = @tenant_id AND status = 'new' RETURNING id, status;
`

// writeService writes a service of so many operations, an even number.
func writeService(dir string, operations int) error {
	all := map[string]string{"go.mod": "module example.com/generated\n\ngo 1.25\n", "idemgen.yaml": serviceConfig, "sqlc.yaml": serviceSqlc}
	for i := range operations / 2 {
		name := fmt.Sprintf("thing%03d", i)
		all[fmt.Sprintf("m/%05d_%s.sql", i+1, name)] = strings.ReplaceAll(serviceTable, "NAME", name)
		all["q/"+name+".sql"] = strings.ReplaceAll(serviceQueries, "NAME", name)
	}
	for name, text := range all {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

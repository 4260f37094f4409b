package doctor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/generator/lint"
	"github.com/idemgen/idemgen/generator/plan"
)

func counted(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what + " is"
	case n >= countedEvents:
		return fmt.Sprintf("%d %ss or more are", n, what)
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// noSources skips a check that needs the service's sources.
func (e *exam) noSources() bool {
	if e.Service == nil {
		e.add(Skipped, "run it where the service's idemgen.yaml is, or with -C", "the service's sources are not here")
	}
	return e.Service == nil
}

// gooseTables are the schemas that have goose's table.
const gooseTables = `SELECT n.nspname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relname = 'goose_db_version' AND c.relkind = 'r' ORDER BY n.nspname <> 'public', 1 LIMIT 1`

// migrations compares the folder with what goose has applied.
func migrations(ctx context.Context, e *exam) error {
	if e.noSources() {
		return nil
	}
	var in string
	err := e.Pool.QueryRow(ctx, gooseTables).Scan(&in)
	if err == pgx.ErrNoRows {
		e.add(Skipped, "", "there is no table goose_db_version: other migrations, or a table of another name")
		return nil
	}
	if err != nil {
		return err
	}
	rows, err := e.Pool.Query(ctx, "SELECT version_id, is_applied FROM "+pgx.Identifier{in, "goose_db_version"}.Sanitize()+" ORDER BY id")
	if err != nil {
		return err
	}
	applied := map[int64]bool{}
	var version int64
	var is bool
	if _, err := pgx.ForEachRow(rows, []any{&version, &is}, func() error { applied[version] = is; return nil }); err != nil {
		return err
	}
	var pending []string
	for _, p := range e.Service.Migrations {
		prefix, _, _ := strings.Cut(path.Base(p), "_")
		if n, err := strconv.ParseInt(prefix, 10, 64); err == nil && !applied[n] {
			pending = append(pending, path.Base(p))
		}
	}
	if len(pending) > 0 {
		e.add(Problem, "apply them before the code that needs them is deployed", "%d pending: %s", len(pending), strings.Join(pending, ", "))
		return nil
	}
	e.ok("all %d applied", len(e.Service.Migrations))
	return nil
}

func intents(ctx context.Context, e *exam) error {
	if e.noSources() {
		return nil
	}
	lacks, err := Indexes(ctx, e.Pool, e.Service.Service)
	if err != nil {
		return err
	}
	for _, l := range lacks {
		e.add(Problem, l.Way(), "%s: %s", l.Operation, l.Problem())
	}
	if len(lacks) == 0 {
		e.ok("all indexes there and valid")
	}
	return nil
}

// hooks finds what was made outside the migrations, and what a gated statement
// must not meet: it fires statement-level triggers although nothing is written,
// and fails on rules.
func hooks(ctx context.Context, e *exam) error {
	if e.noSources() {
		return nil
	}
	gated := map[string][]*plan.Operation{}
	var tables []string
	for _, op := range e.Service.Operations {
		if op.Strategy != plan.Fused && op.Strategy != plan.Verbatim {
			continue
		}
		for _, w := range op.Model.Steps[0].Query.Shape.Writes {
			gated[qualified(w)] = append(gated[qualified(w)], op)
			tables = append(tables, qualified(w))
		}
	}
	slices.Sort(tables)
	found, err := gen.New(e.Pool).HookedTables(ctx, slices.Compact(tables))
	if err != nil {
		return err
	}
	before := len(e.findings)
	for _, t := range found {
		for _, op := range gated[t.Name] {
			what := ""
			switch {
			case t.HasRule:
				what = "rule"
			case t.HasTrigger && op.Strategy == plan.Fused:
				what = "statement-level trigger"
			default:
				continue
			}
			e.add(Problem, "put it into a migration and generate again, so that the plan takes it into account; or drop it",
				"%s is %s, but table %s has a %s that is not in the migrations", op.Model.Name, op.Strategy, t.Name, what)
		}
	}
	if len(e.findings) == before {
		e.ok("none that the plans don't know of")
	}
	return nil
}

// sessionState finds statements that count on a connection of their own, where a
// pooler gives them none.
func sessionState(_ context.Context, e *exam) error {
	if e.noSources() {
		return nil
	}
	severity, where := Warning, "a connection of the service's pool that others get"
	if e.pooled {
		severity, where = Problem, "a server connection that other clients get"
	}
	before := len(e.findings)
	for _, op := range e.Service.Operations {
		for _, s := range op.Model.Steps {
			if s.Go != nil || s.Query == nil {
				continue
			}
			if name := lint.SessionFunction(s.Query.SQL); name != "" {
				e.add(severity, "use what ends with the transaction: pg_advisory_xact_lock, set_config(…, true), RETURNING",
					"%s calls %s, which leaves its effect on %s", s.Query.Name, name, where)
			}
		}
	}
	if len(e.findings) == before {
		e.ok("no statement needs a session")
	}
	return nil
}

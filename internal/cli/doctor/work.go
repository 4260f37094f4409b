package doctor

import (
	"context"
	"strings"
)

// countedWork is up to where unfinished work is counted.
const countedWork = 1000

// work looks for operations that commit in between and don't come to an end.
func work(ctx context.Context, e *exam) error {
	var held, overdue int
	err := e.Pool.QueryRow(ctx, `SELECT
		(SELECT count(*) FROM (SELECT FROM idem.work w WHERE w.held LIMIT $1) h),
		(SELECT count(*) FROM (SELECT FROM idem.work w WHERE w.due_at IS NOT NULL AND NOT w.held
			AND greatest(w.due_at, w.lease_until) < (SELECT clock_timestamp()) - $2::interval LIMIT $1) o)`,
		countedWork, late).Scan(&held, &overdue)
	if err != nil {
		return err
	}
	if held > 0 {
		e.add(Problem, "`idemgen keys list --held` shows why; look into the other system, then `idemgen keys release --retry` or `--refuse`",
			"%s held for an operator", counted(held, "operation"))
	}
	if overdue > 0 {
		e.add(Warning, "run the completer: svc.Run(ctx) of a service that has the operations", "%s due for over %s: nobody completes, or not fast enough",
			counted(overdue, "operation"), late)
	}
	if held+overdue == 0 {
		e.ok("none held, none overdue")
	}
	return nil
}

// tablePrivileges are those that the service's role needs on each of the tables.
const tablePrivileges = `
SELECT c.relname::text, concat_ws(', ',
	CASE WHEN NOT has_table_privilege(c.oid, 'SELECT') THEN 'SELECT' END,
	CASE WHEN NOT has_table_privilege(c.oid, 'INSERT') THEN 'INSERT' END,
	CASE WHEN NOT has_table_privilege(c.oid, 'UPDATE') THEN 'UPDATE' END,
	CASE WHEN NOT has_table_privilege(c.oid, 'DELETE') THEN 'DELETE' END)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'idem' AND c.relname IN ('keys', 'outbox', 'work') AND c.relkind IN ('r', 'p')`

// grants asks whether the role that the URL names may do what the service does.
func grants(ctx context.Context, e *exam) error {
	missing, err := pairs[string](ctx, e.Pool, tablePrivileges)
	if err != nil {
		return err
	}
	var role string
	var usage bool
	err = e.Pool.QueryRow(ctx, `SELECT current_user::text, coalesce((SELECT has_schema_privilege(n.oid, 'USAGE')
		FROM pg_catalog.pg_namespace n WHERE n.nspname = 'idem'), true)`).Scan(&role, &usage)
	if err != nil {
		return err
	}
	before := len(e.findings)
	if !usage {
		e.add(Problem, "GRANT USAGE ON SCHEMA idem TO "+quoted(role), "role %s may not use schema idem", role)
	}
	for _, table := range []string{"keys", "outbox", "work"} {
		if rights := missing[table]; rights != "" {
			e.add(Problem, "GRANT "+rights+" ON idem."+table+" TO "+quoted(role), "role %s lacks %s on idem.%s", role, rights, table)
		}
	}
	switch {
	case len(missing) == 0:
		e.add(Skipped, "", "there are no runtime tables")
	case len(e.findings) == before:
		e.ok("role %s has what the service needs", role)
	}
	return nil
}

func quoted(role string) string { return `"` + strings.ReplaceAll(role, `"`, `""`) + `"` }

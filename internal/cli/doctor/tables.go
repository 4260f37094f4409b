package doctor

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/schema"
)

func runtimeTables(ctx context.Context, e *exam) error {
	version, err := gen.New(e.Pool).SchemaVersion(ctx)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && (pg.Code == "42883" || pg.Code == "3F000"):
		e.add(Problem, "apply the migrations of the service to this database", "the runtime's tables are missing")
		return nil
	case err != nil:
		return err
	case version != schema.Version:
		e.add(Problem, "apply the newest migrations, and deploy a service that was generated with them",
			"the runtime's tables have version %d, this idemgen needs %d", version, schema.Version)
		return nil
	}
	e.ok("version %d", version)
	return nil
}

var (
	createIndex = regexp.MustCompile(`(?m)^CREATE (?:UNIQUE )?INDEX (\w+)`)
	createTable = regexp.MustCompile(`(?m)^CREATE TABLE idem\.(\w+)`)
)

// wantedIndexes are the names that the runtime's migration gives its indexes.
func wantedIndexes() []string {
	var out []string
	for _, m := range createTable.FindAllStringSubmatch(schema.Up(), -1) {
		out = append(out, m[1]+"_pkey")
	}
	for _, m := range createIndex.FindAllStringSubmatch(schema.Up(), -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

const runtimeIndexStates = `
SELECT i.relname::text, x.indisvalid AND x.indisready
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = i.relnamespace
WHERE n.nspname = 'idem'`

func runtimeIndexes(ctx context.Context, e *exam) error {
	states, err := pairs[bool](ctx, e.Pool, runtimeIndexStates)
	if err != nil {
		return err
	}
	var missing, invalid []string
	for _, name := range wantedIndexes() {
		if valid, there := states[name]; !there {
			missing = append(missing, name)
		} else if !valid {
			invalid = append(invalid, name)
		}
	}
	if len(states) == 0 {
		e.add(Skipped, "", "there are no runtime tables")
		return nil
	}
	if len(missing) > 0 {
		e.add(Problem, "make them as the migration 00001_idem.sql of idemgen has them, CONCURRENTLY", "missing in schema idem: %s", strings.Join(missing, ", "))
	}
	if len(invalid) > 0 {
		e.add(Problem, "REINDEX INDEX CONCURRENTLY idem."+invalid[0], "INVALID in schema idem: %s", strings.Join(invalid, ", "))
	}
	if len(missing)+len(invalid) == 0 {
		e.ok("all %d there and valid", len(wantedIndexes()))
	}
	return nil
}

const tableOptions = `
SELECT c.relname::text, coalesce(array_to_string(c.reloptions, ','), '')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'idem' AND c.relname IN ('keys', 'outbox', 'work') AND c.relkind IN ('r', 'p')`

// autovacuum looks at what keeps the tables small, and the plans of cached
// statements good: a table that was swept empty must not be truncated.
func autovacuum(ctx context.Context, e *exam) error {
	options, err := pairs[string](ctx, e.Pool, tableOptions)
	if err != nil {
		return err
	}
	var global string
	if err := e.Pool.QueryRow(ctx, "SELECT current_setting('autovacuum')").Scan(&global); err != nil {
		return err
	}
	before := len(e.findings)
	if global == "off" {
		e.add(Problem, "turn autovacuum on: ALTER SYSTEM SET autovacuum = on", "autovacuum is off: swept keys go on to take space, and every look-up gets slower")
	}
	for _, table := range []string{"keys", "outbox", "work"} {
		text, there := options[table]
		if !there {
			continue
		}
		if !strings.Contains(text, "vacuum_truncate=off") && !strings.Contains(text, "vacuum_truncate=false") {
			e.add(Problem, "ALTER TABLE idem."+table+" SET (vacuum_truncate = off)", "vacuum_truncate is on for idem.%s: once it is swept empty, cached plans read the whole table", table)
		}
		if strings.Contains(text, "autovacuum_enabled=off") || strings.Contains(text, "autovacuum_enabled=false") {
			e.add(Problem, "ALTER TABLE idem."+table+" RESET (autovacuum_enabled)", "autovacuum is off for idem.%s", table)
		}
	}
	switch {
	case len(options) == 0:
		e.add(Skipped, "", "there are no runtime tables")
	case len(e.findings) == before:
		e.ok("on, without truncation")
	}
	return nil
}

// late is how long an expired key, or a due event, may lie: a sweeper comes by
// every minute, a dispatcher more often.
const late = 10 * time.Minute

func overdueKeys(ctx context.Context, e *exam) error {
	var seconds float64
	err := e.Pool.QueryRow(ctx, `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(k.expires_at)), 0)::float8
		FROM idem.keys k WHERE k.expires_at <= (SELECT clock_timestamp())`).Scan(&seconds)
	if err != nil {
		return err
	}
	age := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	if age > late {
		e.add(Warning, "run the sweeper: svc.Run(ctx), or `idemgen sweep` from cron; if it runs, another transaction holds the key (pg_stat_activity)",
			"a key that expired %s ago is still there: nobody sweeps, or not fast enough", age)
		return nil
	}
	e.ok("none for over %s", late)
	return nil
}

// countedEvents is up to where events are counted.
const countedEvents = 1000

func events(ctx context.Context, e *exam) error {
	var dead, waiting int
	err := e.Pool.QueryRow(ctx, `SELECT
		(SELECT count(*) FROM (SELECT FROM idem.outbox o WHERE o.status = 'DEAD' LIMIT $1) d),
		(SELECT count(*) FROM (SELECT FROM idem.outbox o WHERE o.status = 'PENDING' AND o.due_at < (SELECT clock_timestamp()) - $2::interval LIMIT $1) w)`,
		countedEvents, late).Scan(&dead, &waiting)
	if err != nil {
		return err
	}
	if dead > 0 {
		e.add(Problem, "`idemgen outbox list` shows why; retry or discard them: they hold up later events of their key", "%s dead", counted(dead, "event"))
	}
	if waiting > 0 {
		e.add(Warning, "run the dispatcher: svc.Run(ctx)", "%s due for over %s: nobody dispatches, or not fast enough", counted(waiting, "event"), late)
	}
	if dead+waiting == 0 {
		e.ok("none dead, none overdue")
	}
	return nil
}

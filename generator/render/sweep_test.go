package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

const everyFive = "*/5 * * * *"

// sweepMigration is what a folder gets that has the mark given.
func sweepMigration(t *testing.T, before schema.SweepMark, schedule string) []files.File {
	t.Helper()
	cat := catalog(schema.Numbering{Width: 5, Last: 6})
	cat.Sweep = before
	got, err := Migrations("m", cat, nil, schedule, noon)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A golden that changes what a service has needs another sweepVersion, or
// nobody gets it.
func TestSweepMigrationGolden(t *testing.T) {
	compareFolder(t, "testdata/golden/sweep/first", sweepMigration(t, schema.SweepMark{}, everyFive))
	compareFolder(t, "testdata/golden/sweep/changed", sweepMigration(t, schema.SweepMark{Version: 1, Schedule: everyFive}, "@hourly"))
}

// It is made once per schedule, behind the others of its run, and found again.
func TestSweepMigrationIsMadeOnce(t *testing.T) {
	cat := catalog(schema.Numbering{Width: 3, Last: 41})
	both, err := Migrations("m", cat, []*model.Intent{paymentsIntent()}, everyFive, noon)
	if err != nil || paths(both) != "m/042_payments_intent.sql m/043_idem_sweep.sql" || !both[1].Once {
		t.Fatalf("%s: %v", paths(both), err)
	}
	if none := sweepMigration(t, schema.SweepMark{}, ""); len(none) != 0 {
		t.Errorf("made without a schedule: %s", paths(none))
	}
	var diags diag.List
	read := func(schedules ...string) *schema.Catalog {
		var list []schema.File
		before := schema.SweepMark{}
		for i, schedule := range schedules {
			text := string(sweepMigration(t, before, schedule)[0].Content)
			list = append(list, schema.File{Path: fmt.Sprintf("m/%05d_renamed.sql", i+9), Text: text})
			before = schema.SweepMark{Version: sweepVersion, Schedule: schedule}
		}
		return schema.Build(list, &diags)
	}
	once, back := read(everyFive), read(everyFive, "0 4 * * *", everyFive)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	if again := sweepMigration(t, once.Sweep, everyFive); len(again) != 0 || once.Sweep.File != "m/00009_renamed.sql" {
		t.Errorf("made again: %s", paths(again))
	}
	if again := sweepMigration(t, back.Sweep, everyFive); len(again) != 0 || back.Sweep.File != "m/00011_renamed.sql" {
		t.Errorf("made again: %s", paths(again))
	}
	if changed := sweepMigration(t, back.Sweep, "0 4 * * *"); len(changed) != 1 {
		t.Error("a schedule that was there before the latest one is not made again")
	}
}

// script is one direction of a migration, for PostgreSQL's simple protocol.
func script(f files.File, direction string) string {
	_, part, _ := strings.Cut(string(f.Content), "-- +goose "+direction+"\n")
	part, _, _ = strings.Cut(part, "-- +goose Down\n")
	return part
}

const sweepable = `
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
SELECT 's', decode(md5(i::text), 'hex'), 'o', 'k' || i, '', 200,
	clock_timestamp() + CASE WHEN i <= 230 THEN '-1 hour' ELSE '1 hour' END::interval FROM generate_series(1, 300) i;
INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
SELECT 's', 'o', 't', 'k' || i, '{}', CASE WHEN i % 3 = 0 THEN 'DEAD' ELSE 'PROCESSED' END, clock_timestamp() - i * interval '1 day'
FROM generate_series(1, 20) i`

// survivors are the rows that a sweep leaves.
func survivors(t *testing.T, pool *pgxpool.Pool) (rows []string) {
	t.Helper()
	err := pool.QueryRow(t.Context(), `SELECT array_agg(key ORDER BY key) FROM (
		SELECT key FROM idem.keys UNION ALL SELECT 'event ' || key FROM idem.outbox) k`).Scan(&rows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The procedure deletes what idem.Sweeper deletes, in batches that are
// transactions at READ COMMITTED, passes by what is locked, and leaves no setting.
func TestSweepProcedureDoesWhatTheSweeperDoes(t *testing.T) {
	migration := sweepMigration(t, schema.SweepMark{}, everyFive)[0]
	watch := `CREATE TABLE seen (tx bigint, n bigint, level text);
		CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO seen SELECT txid_current(), count(*), current_setting('transaction_isolation') FROM gone HAVING count(*) > 0;
			RETURN NULL;
		END $$;
		CREATE TRIGGER see AFTER DELETE ON idem.keys REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION see();
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$`
	pools := [2]*pgxpool.Pool{}
	for i := range pools {
		url := idemtest.URL(t, script(migration, "Up"), script(migration, "Up"), sweepable, watch)
		pools[i] = idemtest.Open(t, url, func(config *pgxpool.Config) { config.MaxConns = 1 })
		held, err := idemtest.Open(t, url, nil).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = held.Rollback(t.Context()) }()
		if _, err := held.Exec(t.Context(), "UPDATE idem.keys SET expires_at = 'infinity' WHERE key = 'k7'"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (&idem.Sweeper{Pool: pools[0], Batch: 50}).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	const settings = "SELECT current_setting('lock_timeout') || current_setting('enable_sort') || current_setting('plan_cache_mode')"
	var before, after, seen string
	_, err := pools[1].Exec(t.Context(), "SET statement_timeout = '60s'")
	err = errors.Join(err, pools[1].QueryRow(t.Context(), settings).Scan(&before))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pools[1].Exec(t.Context(), "CALL idem.sweep(50)"); err != nil {
		t.Fatal(err)
	}
	want, got := survivors(t, pools[0]), survivors(t, pools[1])
	if !slices.Equal(got, want) || len(got) != 71+6+4 { // k7; the dead events; those of the last week that are not
		t.Errorf("%d are left: %v\nthe sweeper leaves %d: %v", len(got), got, len(want), want)
	}
	err = errors.Join(pools[1].QueryRow(t.Context(), settings).Scan(&after), pools[1].QueryRow(t.Context(),
		"SELECT count(DISTINCT tx) || ' transactions, at most ' || max(n) || ', ' || string_agg(DISTINCT level, ',') FROM seen").Scan(&seen))
	if err != nil || after != before || seen != "5 transactions, at most 50, read committed" {
		t.Errorf("%v; %s; settings %s, before %s", err, seen, after, before)
	}
	if _, err := pools[1].Exec(t.Context(), script(migration, "Down")); err != nil {
		t.Fatal(err)
	}
	if _, err := pools[1].Exec(t.Context(), "CALL idem.sweep()"); err == nil {
		t.Error("the procedure is still there")
	}
}

// A batch without rows would never come to an end: it is refused.
func TestSweepProcedureRefusesABatchWithoutRows(t *testing.T) {
	pool := idemtest.Open(t, idemtest.URL(t, script(sweepMigration(t, schema.SweepMark{}, everyFive)[0], "Up"), sweepable), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for batch, want := range map[string]string{"0": "batch is 0", "-5": "batch is -5", "NULL": "batch is NULL"} {
		_, err := pool.Exec(ctx, "CALL idem.sweep("+batch+")")
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "22023" || !strings.Contains(pg.Message, want+", and must be at least 1") {
			t.Errorf("%s: %v", batch, err)
		}
	}
	if _, err := pool.Exec(ctx, "CALL idem.sweep(1)"); err != nil || len(survivors(t, pool)) != 70+6+4 {
		t.Errorf("%v; %d are left", err, len(survivors(t, pool)))
	}
}

// pg_cron's own server: the extension must be loaded when it starts.
func cronServer(t *testing.T) *pgserver.Server {
	if testing.Short() {
		t.Skip("pg_cron starts a job when a minute begins")
	}
	if !pgserver.Installed() {
		t.Skip("PostgreSQL's server is not installed")
	}
	dir, err := os.MkdirTemp("", "cron-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server, err := pgserver.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	available := one[bool](t, server.URL(), "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_cron')")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if !available {
		t.Skip("pg_cron is not installed: Debian's package is postgresql-15-cron")
	}
	for name, line := range map[string]string{
		"postgresql.conf": "shared_preload_libraries = 'pg_cron'\ncron.host = '127.0.0.1'\nlisten_addresses = '127.0.0.1'\n",
		"pg_hba.conf":     "host all all 127.0.0.1/32 trust\n", // pg_cron has no password
	} {
		file := filepath.Join(dir, "data", name)
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, append([]byte(line), text...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if server, err = pgserver.Start(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func one[T any](t *testing.T, url, sql string) (v T) {
	t.Helper()
	if err := idemtest.Open(t, url, nil).QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// With pg_cron in the database, the migration schedules, a change of it
// reschedules, each Down takes that back, and keys that expire are deleted.
func TestSweepIsScheduledByPgCron(t *testing.T) {
	server := cronServer(t)
	pool := idemtest.Open(t, server.URL(), nil)
	run := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	jobs := func() string {
		return one[string](t, server.URL(), "SELECT coalesce(string_agg(schedule || ' ' || command, ', '), '') FROM cron.job")
	}
	runtime, err := Migrations("m", &schema.Catalog{}, nil, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	first := sweepMigration(t, schema.SweepMark{}, everyFive)[0]
	second := sweepMigration(t, schema.SweepMark{Version: 1, Schedule: everyFive}, "* * * * *")[0]
	run("CREATE EXTENSION pg_cron")
	for _, c := range []struct{ sql, want string }{
		{script(runtime[0], "Up"), ""},
		{script(first, "Up"), "*/5 * * * * CALL idem.sweep()"},
		{script(second, "Up"), "* * * * * CALL idem.sweep()"},
		{script(second, "Down"), "*/5 * * * * CALL idem.sweep()"},
		{script(first, "Down"), ""},
		{script(first, "Up") + script(second, "Up"), "* * * * * CALL idem.sweep()"},
	} {
		run(c.sql)
		if got := jobs(); got != c.want {
			t.Fatalf("jobs are %q, want %q, after\n%s", got, c.want, c.sql)
		}
	}
	run(sweepable)
	const ended = "SELECT coalesce(max(status || ': ' || return_message), '') FROM cron.job_run_details WHERE end_time IS NOT NULL"
	deadline := time.Now().Add(3 * time.Minute)
	said := ""
	for said == "" && time.Now().Before(deadline) {
		if err := pool.QueryRow(t.Context(), ended).Scan(&said); err != nil {
			t.Fatal(err)
		}
		<-time.After(200 * time.Millisecond) // pg_cron says nothing of its own accord
	}
	if left := one[int](t, server.URL(), "SELECT count(*) FROM idem.keys"); left != 70 || !strings.HasPrefix(said, "succeeded") {
		t.Errorf("%d keys are left; pg_cron says %q", left, said)
	}
}

// The procedure rests after full batches, each at a time of its own: 20 times the
// 10 ms that a batch takes at least, twice.
func TestSweepProcedureRests(t *testing.T) {
	pool := idemtest.Pool(t, script(sweepMigration(t, schema.SweepMark{}, everyFive)[0], "Up"), sweepable,
		`CREATE TABLE ended (at timestamptz);
		CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			PERFORM pg_sleep(0.01);
			INSERT INTO ended VALUES (clock_timestamp());
			RETURN NULL;
		END $$;
		CREATE TRIGGER slow AFTER DELETE ON idem.keys FOR EACH STATEMENT EXECUTE FUNCTION slow()`)
	if _, err := pool.Exec(t.Context(), "CALL idem.sweep(100, rest => 20)"); err != nil {
		t.Fatal(err)
	}
	var batches int
	var took float64
	err := pool.QueryRow(t.Context(), "SELECT count(*), extract(epoch FROM max(at) - min(at)) FROM ended").Scan(&batches, &took)
	if err != nil || batches != 3 || took < 0.4 {
		t.Errorf("%v; %d batches in %v s", err, batches, took)
	}
}

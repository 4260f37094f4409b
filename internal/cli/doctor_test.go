package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/internal/cli/doctor"
)

// examine runs doctor and gives its findings by check.
func examine(t *testing.T, want int, args ...string) map[string][]doctor.Finding {
	t.Helper()
	code, stdout, stderr := exec(t, Env{}, append([]string{"doctor", "--format", "json"}, args...)...)
	var found []doctor.Finding
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatalf("%d %v\n%s%s", code, err, stdout, stderr)
	}
	out := map[string][]doctor.Finding{}
	for _, f := range found {
		out[f.Check] = append(out[f.Check], f)
		if f.Hint == "" && (f.Severity == doctor.Warning || f.Severity == doctor.Problem) {
			t.Errorf("%s: %s: no way out", f.Check, f.Message)
		}
	}
	if code != want {
		t.Errorf("exit code %d, want %d:\n%s%s", code, want, stdout, stderr)
	}
	return out
}

// finds checks that a check found this.
func finds(t *testing.T, found map[string][]doctor.Finding, check string, severity doctor.Severity, message string) {
	t.Helper()
	if !slices.ContainsFunc(found[check], func(f doctor.Finding) bool {
		return f.Severity == severity && strings.Contains(f.Message, message)
	}) {
		t.Errorf("%s: want %s %q, got %v", check, severity, message, found[check])
	}
}

// utc makes a database's settings those that doctor asks for.
const utc = `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''UTC''', current_database()); END $$`

func TestDoctorFindsNothingInAGoodDatabase(t *testing.T) {
	found := examine(t, exitOK, "--db", idemtest.URL(t, utc), "-C", t.TempDir())
	for check, list := range found {
		for _, f := range list {
			if f.Severity != doctor.OK && f.Severity != doctor.Skipped {
				t.Errorf("%s: %v", check, f)
			}
		}
	}
	if len(found) < 13 {
		t.Errorf("only %d checks", len(found))
	}
	finds(t, found, "pooling", doctor.OK, "a direct connection")
	finds(t, found, "migrations", doctor.Skipped, "sources are not here")
}

func TestDoctorFindsWhatIsWrongWithADatabase(t *testing.T) {
	for _, c := range []struct {
		name, sql, check string
		severity         doctor.Severity
		message          string
	}{
		{"isolation", `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''serializable''', current_database()); END $$`, "settings", doctor.Warning, "is serializable"},
		{"read-only", `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`, "settings", doctor.Problem, "no operation can write"},
		{"time zone", `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$`, "settings", doctor.Warning, "TimeZone is Asia/Tokyo"},
		{"durability", `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`, "settings", doctor.Warning, "synchronous_commit is off"},
		{"no tables", `DROP SCHEMA idem CASCADE`, "runtime tables", doctor.Problem, "are missing"},
		{"other version", `CREATE OR REPLACE FUNCTION idem.version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 77'`, "runtime tables", doctor.Problem, "have version 77"},
		{"no index", `DROP INDEX idem.keys_expires_at`, "runtime indexes", doctor.Problem, "missing in schema idem: keys_expires_at"},
		{"invalid index", `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'idem.keys_expires_at'::regclass`, "runtime indexes", doctor.Problem, "INVALID in schema idem: keys_expires_at"},
		{"truncation", `ALTER TABLE idem.keys RESET (vacuum_truncate)`, "autovacuum", doctor.Problem, "vacuum_truncate is on for idem.keys"},
		{"no autovacuum", `ALTER TABLE idem.outbox SET (autovacuum_enabled = off)`, "autovacuum", doctor.Problem, "autovacuum is off for idem.outbox"},
		{"overdue", `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at) VALUES ('s', '\x01', 'o', 'k', '', 200, now() - interval '2 hours')`,
			"overdue keys", doctor.Warning, "expired 2h0m"},
		{"dead", `INSERT INTO idem.outbox (scope, operation, topic, key, payload, status) VALUES ('s', 'o', 't', 'k', '{}', 'DEAD')`, "events", doctor.Problem, "1 event is dead"},
		{"waiting", `INSERT INTO idem.outbox (scope, operation, topic, key, payload, due_at) SELECT 's', 'o', 't', 'k' || i, '{}', now() - interval '1 hour' FROM generate_series(1, 3) i`,
			"events", doctor.Warning, "3 events are due"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := examine(t, exitFindings, "--db", idemtest.URL(t, utc, c.sql), "-C", t.TempDir())
			finds(t, found, c.check, c.severity, c.message)
		})
	}
}

// TestDoctorFindsWhatTheServiceLacks: against the sources of the example service.
func TestDoctorFindsWhatTheServiceLacks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	const service = "../../example-service"
	url := idemtest.Migrated(t, service+"/db/migrations")
	pool := idemtest.Open(t, url, func(*pgxpool.Config) {})
	do := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do(utc)
	do(`CREATE TABLE goose_db_version (id serial, version_id bigint NOT NULL, is_applied boolean NOT NULL);
		INSERT INTO goose_db_version (version_id, is_applied) SELECT i, true FROM generate_series(0, 100) i`)
	found := examine(t, exitOK, "--db", url, "-C", service)
	finds(t, found, "migrations", doctor.OK, "applied")
	finds(t, found, "intents", doctor.OK, "all indexes")
	finds(t, found, "triggers and rules", doctor.OK, "none")

	do(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (4, false)`)
	do(`CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER audit AFTER INSERT ON payments FOR EACH STATEMENT EXECUTE FUNCTION nothing()`)
	do(`DO $$ DECLARE i text; BEGIN
		SELECT indexrelid::regclass INTO i FROM pg_index WHERE indrelid = 'payments'::regclass AND indisunique AND NOT indisprimary LIMIT 1;
		UPDATE pg_index SET indisvalid = false WHERE indexrelid = i::regclass; END $$`)
	found = examine(t, exitFindings, "--db", url, "-C", service)
	finds(t, found, "migrations", doctor.Problem, "1 pending: 00004_idem.sql")
	finds(t, found, "triggers and rules", doctor.Problem, "CreatePayment is fused, but table public.payments has a statement-level trigger")
	finds(t, found, "intents", doctor.Problem, "is INVALID or not unique")

	code, _, stderr := exec(t, Env{}, "lint", "-C", service, "--db", url, "--format", "json")
	if code != exitFindings || !strings.Contains(stderr, `"code":"IDEM084","severity":"warning","file":"`+service+`/db/queries/`) {
		t.Errorf("lint --db: %d\n%s", code, stderr)
	}
	code, _, stderr = exec(t, Env{}, "doctor", "-C", service, "--db", url, "--format", "github")
	if code != exitFindings || !strings.Contains(stderr, "::error title=idemgen doctor%3A intents::") {
		t.Errorf("doctor --format github: %d\n%s", code, stderr)
	}
}

// TestDoctorKnowsAPoolerInTransactionMode: two clients get one backend.
func TestDoctorKnowsAPoolerInTransactionMode(t *testing.T) {
	url := idemtest.URL(t, utc)
	through := idemtest.PgBouncer(t, url, 2)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	through(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	found, err := doctor.Examine(t.Context(), doctor.Patient{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Check == "pooling" })
	if f := found[i]; !strings.Contains(f.Message, "a pooler in transaction mode") {
		t.Errorf("got %v", f)
	}
	t.Log(found[i])
}

// TestDoctorReportsForPeople: problems alone with -q, marks and colours.
func TestDoctorReportsForPeople(t *testing.T) {
	url := idemtest.URL(t, utc, "DROP INDEX idem.keys_expires_at")
	code, stdout, _ := exec(t, Env{}, "doctor", "--db", url, "-C", t.TempDir(), "-q", "--color", "always")
	if want := "\x1b[1;31mproblem \x1b[0m runtime indexes: missing in schema idem: keys_expires_at\n         hint: "; code != exitFindings || !strings.HasPrefix(stdout, want) || strings.Count(stdout, "\n") != 2 {
		t.Errorf("%d\n%q", code, stdout)
	}
	code, stdout, _ = exec(t, Env{}, "doctor", "--db", url, "-C", t.TempDir())
	if code != exitFindings || !strings.Contains(stdout, "\nok       autovacuum: ") {
		t.Errorf("%d\n%s", code, stdout)
	}
}

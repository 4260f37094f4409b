package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

const sweepable = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	SELECT 's', decode(md5(i::text), 'hex'), 'o', 'k' || i, '', 200,
		clock_timestamp() + CASE WHEN i <= 105 THEN '-1 hour' ELSE '1 hour' END::interval
	FROM generate_series(1, 110) i;
	INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
	SELECT 's', 'o', 't', 'k' || i, '{}', 'PROCESSED', clock_timestamp() - i * interval '5 days'
	FROM generate_series(1, 3) i`

func TestSweepOnce(t *testing.T) {
	url := idemtest.URL(t, sweepable)
	code, stdout, stderr := exec(t, Env{}, "sweep", "--db", url, "--batch", "50")
	if want := "deleted 105 keys and 2 events in 4 rounds; overdue: none\n"; code != exitOK || stdout != want || stderr != "" {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	fromEnv := Env{Getenv: func(name string) string { return map[string]string{"DATABASE_URL": url}[name] }}
	code, stdout, stderr = exec(t, fromEnv, "sweep", "--format", "json", "--events", "24h")
	var got sweptJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK || stderr != "" || got != (sweptJSON{Events: 1, Rounds: 2, Ended: true}) {
		t.Errorf("%d %v\n%s%s", code, err, stdout, stderr)
	}
	code, stdout, _ = exec(t, fromEnv, "sweep", "-q", "--db", strings.Replace(url, "postgres://", "postgresql://", 1))
	if code != exitOK || stdout != "" {
		t.Errorf("%d %s", code, stdout)
	}
}

// A key that is held is a finding, and is not waited for.
func TestSweepReportsWhatIsOverdue(t *testing.T) {
	url := idemtest.URL(t, sweepable)
	tx, err := idemtest.Open(t, url, nil).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM idem.keys WHERE key = 'k7' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := exec(t, Env{}, "sweep", "--db", url)
	if code != exitFindings || !strings.HasPrefix(stdout, "deleted 104 keys and 2 events in 2 rounds; overdue: 1h0m") || !strings.Contains(stderr, "another transaction holds it") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
}

// Beside a service that sweeps all the time, both do their part and neither fails.
func TestSweepBesideASweepingService(t *testing.T) {
	url := idemtest.URL(t, sweepable)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	pool := idemtest.Open(t, url, nil)
	go func() { ended <- (&idem.Sweeper{Pool: pool, Batch: 10, Interval: 1}).Run(ctx) }()
	for range 20 {
		if _, err := pool.Exec(ctx, "UPDATE idem.keys SET expires_at = clock_timestamp()"); err != nil {
			t.Error(err)
		}
		if code, stdout, stderr := exec(t, Env{}, "sweep", "--db", url, "--batch", "10"); code != exitOK || stderr != "" {
			t.Errorf("%d\n%s%s", code, stdout, stderr)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// What the service had locked when it was ended.
	if code, stdout, stderr := exec(t, Env{}, "sweep", "--db", url); code != exitOK {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	var left int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM idem.keys").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d are left: %v", left, err)
	}
}

// interrupting ends a command at the first line that it prints.
type interrupting struct {
	strings.Builder
	stop context.CancelFunc
}

func (w *interrupting) Write(p []byte) (int, error) {
	w.stop()
	return w.Builder.Write(p)
}

// With an interval it goes on until it is interrupted, which is no failure.
func TestSweepAtIntervals(t *testing.T) {
	for format, want := range map[string]string{"text": "msg=swept keys=105 events=2", "json": `"msg":"swept","keys":105,"events":2`} {
		ctx, stop := context.WithCancel(t.Context())
		out, errs := &interrupting{stop: stop}, &strings.Builder{}
		code := Main(ctx, Env{Stdout: out, Stderr: errs, Getenv: func(string) string { return "" },
			Args: []string{"sweep", "--format", format, "--interval", "1h", "--db", idemtest.URL(t, sweepable)}})
		if code != exitOK || !strings.Contains(out.String(), want) || errs.Len() != 0 {
			t.Errorf("%s: %d\n%s%s", format, code, out, errs)
		}
	}
}

// What can't be done is said with exit code 2, with a way out, and never with a
// password.
func TestSweepFailures(t *testing.T) {
	empty := idemtest.URL(t, "DROP SCHEMA idem CASCADE")
	stranger := idemtest.URL(t, sweepable)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no database", nil, "set DATABASE_URL"},
		{"no URL", []string{"--db", "post gres:hunter2"}, "--db can't be read"},
		{"a bad port", []string{"--db", "postgres://u:hunter2@h:port/d"}, "--db can't be read"},
		{"a password with @", []string{"--db", "postgres://u:x@hunter2@127.0.0.1:1/d"}, "%40 for @"},
		{"a password with #", []string{"--db", "postgres://127.0.0.1:1#hunter2@h/d"}, "--db can't be read"},
		{"a password with ?", []string{"--db", "postgres://127.0.0.1:1?hunter2@h/d"}, "--db can't be read"},
		{"nobody there", []string{"--db", "postgres://u:hunter2@127.0.0.1:1/d"}, "the database of --db: "},
		{"no tables", []string{"--db", empty}, "apply the service's migrations"},
		{"no right", []string{"--db", stranger + "&role=pg_monitor"}, "under Grants"},
		{"no rest of that length", []string{"--db", empty, "--rest", "-1"}, "use 0"},
		{"a rest that is no number", []string{"--db", empty, "--rest", "NaN"}, "use 0"},
		{"no batch", []string{"--db", empty, "--batch", "0"}, "use 1 to 100000"},
		{"no time", []string{"--db", empty, "--events", "0s"}, "like 168h"},
		{"a past", []string{"--db", empty, "--interval", "-1s"}, "like 1m"},
		{"an argument", []string{"now"}, `takes no argument "now"`},
	} {
		code, stdout, stderr := exec(t, Env{}, append([]string{"sweep"}, c.args...)...)
		if code != exitFailed || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d\n%s%s", c.name, code, stdout, stderr)
		}
		if stdout != "" {
			t.Errorf("%s: nothing was done, and stdout says %s", c.name, stdout)
		}
		if said := stdout + stderr; strings.Contains(said, "hunter2") {
			t.Errorf("%s: the password is shown:\n%s", c.name, said)
		}
	}
}

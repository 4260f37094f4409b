package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// workOfAllKinds are operations that commit in between: three that are held, one
// that a process works at, one that nobody does, and one async that is done.
func workOfAllKinds(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()
	url := idemtest.URL(t)
	pool := idemtest.Open(t, url, func(*pgxpool.Config) {})
	for i, w := range []struct{ key, rest string }{
		{"held-1", "2, 3, NULL, true, 'the gateway was silent'"}, {"held-2", "1, 1, NULL, true, 'too many tries'"}, {"held-3", "1, 1, NULL, true, 's'"},
		{"leased", "1, 4, clock_timestamp() + interval '1 h', false, NULL"}, {"left", "1, 5, clock_timestamp() - interval '1 h', false, NULL"},
		{"done", "0, 1, NULL, false, NULL"},
	} {
		status, due := 0, "clock_timestamp() - interval '1 h'"
		if w.key == "done" {
			status, due = 201, "NULL"
		}
		if _, err := pool.Exec(t.Context(), `WITH k AS (
			INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at) VALUES ('s', $1, 'shop.Ship', $2, '', $3, 'infinity'))
			INSERT INTO idem.work (created_at, scope, digest, operation, input, due_at, step, attempt, lease_until, held, reason)
			VALUES ('2026-01-01'::timestamptz + $4 * interval '1 s', 's', $1, 'shop.Ship', '{"secret": "s3cret"}', `+due+", "+w.rest+")",
			idem.KeyDigest("shop.Ship", w.key), w.key, status, i); err != nil {
			t.Fatal(err)
		}
	}
	return url, pool
}

// TestKeysListShowsWork: held work by age, and of all unfinished work how far it is.
func TestKeysListShowsWork(t *testing.T) {
	url, _ := workOfAllKinds(t)
	for _, limit := range []string{"1", "2", "100"} {
		if keys, _ := listedJSON(t, url, "--held", "--limit", limit); strings.Join(keys, " ") != "held-1 held-2 held-3" {
			t.Errorf("held: %v", keys)
		}
	}
	if keys, _ := listedJSON(t, url, "--held", "--scope", "other"); len(keys) != 0 {
		t.Errorf("%v of another scope", keys)
	}
	code, stdout, _ := exec(t, Env{}, "keys", "list", "--unfinished", "--db", url)
	for _, want := range []string{"held, step 2, attempt 3: the gateway was silent", "unfinished, step 1, attempt 4, leased until 2", "unfinished, step 1, attempt 5, due 2"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%d, no %q in\n%s", code, want, stdout)
		}
	}
	_, stdout, _ = exec(t, Env{}, "keys", "show", "leased", "--scope", "s", "--operation", "shop.Ship", "--show-body", "--db", url, "--format", "json")
	var shown []shownJSON
	if err := json.Unmarshal([]byte(stdout), &shown); err != nil || shown[0].Work == nil || !shown[0].Work.Leased || shown[0].Work.Attempt != 4 {
		t.Errorf("%v %s", err, stdout)
	}
	if strings.Contains(stdout, "s3cret") {
		t.Error("what the request brought is shown")
	}
	if code, _, stderr := exec(t, Env{}, "keys", "list", "--held", "--expired", "--db", url); code != exitFailed || !strings.Contains(stderr, "exclude each other") {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestKeysReleaseDecidesHeldWork: --retry makes it due, --refuse makes it undo;
// neither touches work that is not held.
func TestKeysReleaseDecidesHeldWork(t *testing.T) {
	url, pool := workOfAllKinds(t)
	release := func(key string, flags ...string) (int, string) {
		code, stdout, stderr := exec(t, Env{}, append([]string{"keys", "release", key, "--scope", "s", "--operation", "shop.Ship", "--db", url}, flags...)...)
		return code, stdout + stderr
	}
	state := func(key string) string {
		var out string
		if err := pool.QueryRow(t.Context(), `SELECT concat_ws(' ', w.held, w.undoing, w.step, w.tries, w.due_at <= clock_timestamp())
			FROM idem.work w WHERE w.digest = $1`, idem.KeyDigest("shop.Ship", key)).Scan(&out); err != nil {
			return err.Error()
		}
		return out
	}
	if code, out := release("held-1", "--retry"); code != exitFailed || !strings.Contains(out, "add --yes") || state("held-1") != "t f 2 0 t" {
		t.Errorf("unasked: %d %s %s", code, out, state("held-1"))
	}
	if code, out := release("held-1", "--retry", "--yes"); code != exitOK || !strings.Contains(out, "shop.Ship goes on") || state("held-1") != "f f 2 0 t" {
		t.Errorf("%d %s %s", code, out, state("held-1"))
	}
	if code, out := release("held-2", "--refuse", "--yes"); code != exitOK || !strings.Contains(out, "is refused") || state("held-2") != "f t 0 0 t" {
		t.Errorf("%d %s %s", code, out, state("held-2"))
	}
	for _, key := range []string{"held-1", "leased", "left", "done"} {
		before := state(key)
		if code, out := release(key, "--refuse", "--yes"); code != exitFindings || !strings.Contains(out, "not held") || state(key) != before {
			t.Errorf("%s: %d %s %s", key, code, out, state(key))
		}
	}
	if code, _ := release("held-3", "--refuse", "--retry", "--yes"); code != exitFailed || state("held-3") != "t f 1 0 t" {
		t.Errorf("both: %d", code)
	}
}

// TestKeysReleaseAndPurgeTakeTheWorkAlong: but never under somebody who works at it.
func TestKeysReleaseAndPurgeTakeTheWorkAlong(t *testing.T) {
	url, pool := workOfAllKinds(t)
	rows := func(key string) (n int) {
		if err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM idem.keys WHERE digest = $1) + (SELECT count(*) FROM idem.work WHERE digest = $1)`,
			idem.KeyDigest("shop.Ship", key)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	args := func(act, key string) []string {
		return []string{"keys", act, key, "--scope", "s", "--operation", "shop.Ship", "--db", url, "--yes"}
	}
	if code, _, stderr := exec(t, Env{}, args("release", "leased")...); code != exitFindings || !strings.Contains(stderr, "is running") || rows("leased") != 2 {
		t.Errorf("%d %s, %d rows", code, stderr, rows("leased"))
	}
	for _, key := range []string{"left", "held-3"} {
		if code, _, stderr := exec(t, Env{}, args("release", key)...); code != exitOK || rows(key) != 0 {
			t.Errorf("%s: %d %s, %d rows", key, code, stderr, rows(key))
		}
	}
	if code, stdout, stderr := exec(t, Env{}, "keys", "purge", "--scope", "s", "--db", url, "--yes"); code != exitOK || !strings.Contains(stdout, "deleted 1 record") || rows("done") != 0 {
		t.Errorf("%d %s%s, %d rows", code, stdout, stderr, rows("done"))
	}
	for _, key := range []string{"held-1", "held-2", "leased"} {
		if rows(key) != 2 {
			t.Errorf("%s was purged", key)
		}
	}
}

// manyWork is work behind each of manyKeys; 100 of it are held.
const manyWork = `INSERT INTO idem.work (scope, digest, operation, held, due_at, created_at)
	SELECT k.scope, k.digest, k.operation, substr(k.key, 2)::int % 2000 = 0, CASE WHEN k.status = 0 THEN clock_timestamp() END,
		'2026-01-01'::timestamptz + substr(k.key, 2)::int * interval '1 s'
	FROM idem.keys k;
	ANALYZE idem.work`

// TestWorkIsFoundByAnIndex among 200,000 rows, with a generic plan too.
func TestWorkIsFoundByAnIndex(t *testing.T) {
	pool := idemtest.Open(t, idemtest.URL(t, manyKeys, manyWork), func(*pgxpool.Config) {})
	for _, c := range []struct {
		name, sql string
		args      []any
	}{
		{"held", gen.PageHeldKeys, []any{"-infinity", "", []byte{}, "", "", "", 1000}},
		{"held, from behind a row", gen.PageHeldKeys, []any{"2026-01-02", "s0", []byte{0x80}, "", "", "", 1000}},
		{"of keys", gen.WorkOfKeys, []any{"s50", [][]byte{{1}}}},
		{"of a key", gen.LockWorkOfKey, []any{"s50", []byte{1}}},
		{"purge", gen.PurgeKeys, []any{"s50", [][]byte{{1}}}},
		{"release", gen.ReleaseWork, []any{"s50", []byte{1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := pool.Query(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+c.sql, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			own := lines(t, rows)
			generic, err := explainStatement(t.Context(), pool, c.sql, len(c.args))
			if err != nil {
				t.Fatal(err)
			}
			for _, plan := range []string{own, strings.Join(generic, "\n")} {
				if strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "work_") {
					t.Errorf("no index:\n%s", plan)
				}
			}
		})
	}
}

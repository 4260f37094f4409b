package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// someKeys are of two scopes and two operations: 30 that live, 20 that have
// expired, one unfinished, and one that a handler left behind.
const someKeys = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
	SELECT CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END, decode(md5(i::text), 'hex'), CASE WHEN i % 3 = 0 THEN 'shop.Refund' ELSE 'shop.Pay' END,
		'k' || i, '\x01', 201, '{"Location": ["/p/1"]}', '{"secret": "s3cret"}',
		clock_timestamp() + CASE WHEN i > 30 THEN '-1 hour' ELSE '1 hour' END::interval
	FROM generate_series(1, 50) i;
	INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	VALUES ('even', '\x0102', 'shop.Ship', 'endless', '', 0, 'infinity'), ('odd', '\x0103', 'shop.Ship', 'left', '', 0, clock_timestamp() - interval '1 s')`

// listedJSON lists keys as JSON and follows the pages to their end.
func listedJSON(t *testing.T, url string, args ...string) (keys []string, pages int) {
	t.Helper()
	after := ""
	for {
		code, stdout, stderr := exec(t, Env{}, append([]string{"keys", "list", "--db", url, "--format", "json", "--after", after}, args...)...)
		var out keysJSON
		if err := json.Unmarshal([]byte(stdout), &out); err != nil || code != exitOK || stderr != "" {
			t.Fatalf("%d %v\n%s%s", code, err, stdout, stderr)
		}
		if strings.Contains(stdout, "s3cret") {
			t.Fatal("a list shows a body")
		}
		pages++
		for _, k := range out.Keys {
			keys = append(keys, k.Key)
		}
		if after = out.Next; after == "" {
			return keys, pages
		}
	}
}

// TestKeysListPagesSeeEachKeyOnce: each filter, whole and in pages of any size.
func TestKeysListPagesSeeEachKeyOnce(t *testing.T) {
	url := idemtest.URL(t, someKeys)
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, 52}, {[]string{"--scope", "even"}, 26}, {[]string{"--scope", "nobody"}, 0}, {[]string{"--operation", "shop.Refund"}, 16},
		{[]string{"--expired"}, 21}, {[]string{"--unfinished"}, 2}, {[]string{"--expired", "--unfinished"}, 1},
		{[]string{"--scope", "odd", "--expired"}, 11}, {[]string{"--key", "k7"}, 1}, {[]string{"--scope", "odd", "--operation", "shop.Ship", "--unfinished"}, 1},
	} {
		for _, limit := range []int{1, 3, 7, 100} {
			keys, pages := listedJSON(t, url, append(c.args, "--limit", fmt.Sprint(limit))...)
			seen := map[string]bool{}
			for _, k := range keys {
				seen[k] = true
			}
			if len(keys) != c.want || len(seen) != c.want {
				t.Errorf("%v in pages of %d: %d keys, %d of them different, want %d", c.args, limit, len(keys), len(seen), c.want)
			}
			if want := max(1, (c.want+limit-1)/limit); pages != want {
				t.Errorf("%v in pages of %d: %d pages, want %d", c.args, limit, pages, want)
			}
		}
	}
}

func TestKeysListIsATable(t *testing.T) {
	url := idemtest.URL(t, someKeys)
	code, stdout, _ := exec(t, Env{}, "keys", "list", "--db", url, "--unfinished")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != exitOK || len(lines) != 3 || !regexp.MustCompile(`^SCOPE +OPERATION +KEY +STATUS`).MatchString(lines[0]) ||
		!strings.Contains(lines[1], "unfinished") || !strings.Contains(lines[1], "(expired)") || !strings.Contains(lines[2], "infinity") {
		t.Errorf("%d\n%s", code, stdout)
	}
	code, stdout, _ = exec(t, Env{Width: 70}, "keys", "list", "--db", url, "--limit", "2")
	for _, line := range strings.Split(stdout, "\n")[:3] {
		if n := len([]rune(line)); n > 70 {
			t.Errorf("a line of %d columns on a terminal of 70: %s", n, line)
		}
	}
	if !strings.Contains(stdout, "more: idemgen keys list --after ") || code != exitOK {
		t.Errorf("%d\n%s", code, stdout)
	}
}

// TestKeysNeverShowBodiesUnasked covers every command of keys.
func TestKeysNeverShowBodiesUnasked(t *testing.T) {
	url := idemtest.URL(t, someKeys)
	for _, args := range [][]string{
		{"list"}, {"show", "k2", "--scope", "even"}, {"release", "k2", "--scope", "even", "--yes"}, {"purge", "k2", "--scope", "even", "--yes"},
	} {
		for _, format := range []string{"text", "json"} {
			_, stdout, stderr := exec(t, Env{}, append(append([]string{"keys"}, args...), "--db", url, "--format", format)...)
			if strings.Contains(stdout+stderr, "s3cret") {
				t.Errorf("%v shows a body:\n%s%s", args, stdout, stderr)
			}
		}
	}
	for _, format := range []string{"text", "json"} {
		code, stdout, _ := exec(t, Env{}, "keys", "show", "k4", "--scope", "even", "--db", url, "--show-body", "--format", format)
		if code != exitOK || !strings.Contains(stdout, "s3cret") || !strings.Contains(stdout, "/p/1") {
			t.Errorf("%d\n%s", code, stdout)
		}
	}
}

// TestKeysReleaseFreesOnlyUnfinished: an answer stays, a running request stays,
// and what is released is gone.
func TestKeysReleaseFreesOnlyUnfinished(t *testing.T) {
	url := idemtest.URL(t, someKeys)
	release := func(key, scope string) (int, string) {
		code, stdout, stderr := exec(t, Env{}, "keys", "release", key, "--scope", scope, "--db", url, "--yes")
		return code, stdout + stderr
	}
	if code, out := release("k2", "even"); code != exitFindings || !strings.Contains(out, "the key has an answer") || !strings.Contains(out, "keys purge") {
		t.Errorf("%d %s", code, out)
	}
	if code, out := release("endless", "odd"); code != exitFindings || !strings.Contains(out, "there is no such key") {
		t.Errorf("another scope's key: %d %s", code, out)
	}
	pool := idemtest.Open(t, url, func(*pgxpool.Config) {})
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", idem.KeyLock("even", "shop.Ship", "endless")); err != nil {
		t.Fatal(err)
	}
	if code, out := release("endless", "even"); code != exitFindings || !strings.Contains(out, "is running") {
		t.Errorf("%d %s", code, out)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code, out := release("endless", "even"); code != exitOK || !strings.Contains(out, "released the key of shop.Ship") {
		t.Errorf("%d %s", code, out)
	}
	if keys, _ := listedJSON(t, url, "--unfinished"); strings.Join(keys, " ") != "left" {
		t.Errorf("left: %v", keys)
	}
}

// TestKeysPurge: only what the flags find, and never unfinished work.
func TestKeysPurge(t *testing.T) {
	url := idemtest.URL(t, someKeys)
	purge := func(args ...string) (int, string) {
		code, stdout, stderr := exec(t, Env{}, append([]string{"keys", "purge", "--db", url}, args...)...)
		return code, stdout + stderr
	}
	rest := func() int {
		keys, _ := listedJSON(t, url)
		return len(keys)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
		left int
	}{
		{[]string{"--yes"}, exitFailed, "this would delete every record", 52},
		{[]string{"k2", "--yes"}, exitFailed, "no scope is given", 52},
		{[]string{"--scope", "even"}, exitFailed, "add --yes", 52},
		{[]string{"--scope", "even", "--dry-run"}, exitOK, "would delete 25 records", 52},
		{[]string{"k2", "--scope", "even", "--yes"}, exitOK, "deleted 1 record\n", 51},
		{[]string{"--expired", "--yes"}, exitOK, "deleted 20 records", 31},
		{[]string{"--scope", "even", "--operation", "shop.Refund", "--yes"}, exitOK, "deleted 5 records", 26},
		{[]string{"--scope", "even", "--yes"}, exitOK, "deleted 9 records", 17},
		{[]string{"--operation", "shop.Ship", "--yes"}, exitOK, "deleted 0 records", 17},
	} {
		if code, out := purge(c.args...); code != c.code || !strings.Contains(out, c.want) || rest() != c.left {
			t.Errorf("%v: %d %s left: %d, want %d", c.args, code, out, rest(), c.left)
		}
	}
}

func TestKeysAskOnATerminal(t *testing.T) {
	url := idemtest.URL(t, someKeys)
	for answer, want := range map[string]string{"": "", "n\n": "nothing was changed", "\n": "nothing was changed", "yes\n": "deleted 25 records"} {
		code, stdout, stderr := exec(t, Env{Terminal: true, Interactive: true, Stdin: strings.NewReader(answer)}, "keys", "purge", "--scope", "odd", "--db", url)
		if code != exitOK || !strings.Contains(stderr, "Delete the records of all keys of scope odd? Requests with their keys run again [y/N] ") || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%q: %d\n%s%s", answer, code, stdout, stderr)
		}
		if keys, _ := listedJSON(t, url, "--scope", "odd"); (len(keys) == 26) == strings.HasPrefix(answer, "y") {
			t.Errorf("%q: %d keys are left", answer, len(keys))
		}
		if strings.HasPrefix(answer, "y") {
			url = idemtest.URL(t, someKeys)
		}
	}
}

func TestKeysOfOneOperationAreFoundByDigest(t *testing.T) {
	url := idemtest.URL(t)
	pool := idemtest.Open(t, url, func(*pgxpool.Config) {})
	for _, operation := range []string{"shop.Pay", "shop.Refund"} {
		if _, err := pool.Exec(t.Context(), "INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at) VALUES ('s', $1, $2, 'same', '', 200, 'infinity')",
			idem.KeyDigest(operation, "same"), operation); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := exec(t, Env{}, "keys", "show", "same", "--scope", "s", "--operation", "shop.Refund", "--db", url)
	if code != exitOK || !strings.Contains(stdout, "operation:   shop.Refund") || strings.Contains(stdout, "shop.Pay") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	code, _, stderr = exec(t, Env{}, "keys", "release", "same", "--scope", "s", "--db", url, "--yes")
	if code != exitFailed || !strings.Contains(stderr, "several operations have this key: ") {
		t.Errorf("%d %s", code, stderr)
	}
	code, _, stderr = exec(t, Env{}, "keys", "list", "--operation", "Pay", "--db", url)
	if code != exitFailed || !strings.Contains(stderr, "service.Operation") {
		t.Errorf("%d %s", code, stderr)
	}
}

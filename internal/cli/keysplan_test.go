package cli

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// manyKeys are 200,000 keys of 100 scopes; every fourth has expired, 10 never do.
const manyKeys = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	SELECT 's' || i % 100, decode(md5(i::text), 'hex'), 'shop.Op' || i % 5, 'k' || i, '', CASE WHEN i <= 10 THEN 0 ELSE 200 END,
		CASE WHEN i <= 10 THEN 'infinity' ELSE clock_timestamp() + i * interval '1 s' - interval '50000 s' END
	FROM generate_series(1, 200000) i;
	ANALYZE idem.keys`

var scanned = regexp.MustCompile(`(?:Scan|Sort).*\(actual rows=(\d+)`)

// TestKeysPagesGoByAnIndex: on 200,000 rows a page reads no more rows than it
// shows, and few beside; with a plan made for its values, and with a generic one.
func TestKeysPagesGoByAnIndex(t *testing.T) {
	pool := idemtest.Open(t, idemtest.URL(t, manyKeys), func(*pgxpool.Config) {})
	const first, middle = "-infinity", "2000-01-01"
	for _, c := range []struct {
		name, sql string
		args      []any
	}{
		{"all", gen.PageKeys, []any{"s50", []byte{0x80}, "", "", 1000}},
		{"one scope", gen.PageKeysOfScope, []any{"s50", []byte{0x80}, "", "", 1000}},
		{"expired", gen.PageExpiredKeys, []any{first, "", []byte{}, false, "", "", "", 1000}},
		{"expired, from behind a row", gen.PageExpiredKeys, []any{middle, "s50", []byte{0x80}, false, "", "", "", 1000}},
		{"endless", gen.PageEndlessKeys, []any{"", []byte{}, "", "", "", 1000}},
		{"by digest", gen.FindKeys, []any{"s50", [][]byte{{1}}}},
		{"purge", gen.PurgeKeys, []any{"s50", [][]byte{{1}}}},
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
				if strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "keys_") {
					t.Errorf("no index:\n%s", plan)
				}
			}
			for _, m := range scanned.FindAllStringSubmatch(own, -1) {
				if n, _ := strconv.Atoi(m[1]); n > 1010 {
					t.Errorf("%d rows are read for a page of 1000:\n%s", n, own)
				}
			}
		})
	}
}

func lines(t *testing.T, rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}) string {
	t.Helper()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// someEvents are 5 dead ones, 3 that are pending, and 2 processed.
const someEvents = `INSERT INTO idem.outbox (scope, operation, topic, key, order_key, payload, status, reason, failures, answer_status, answer_body, processed_at, created_at, due_at)
	SELECT CASE WHEN i % 2 = 0 THEN 'acme' ELSE E'od\nd' END, 'svc.Pay', 'paid', 'k-' || i, CASE WHEN i < 8 THEN 'o' END, '{"secret": "hunter2"}',
		CASE WHEN i <= 5 THEN 'DEAD' WHEN i <= 8 THEN 'PENDING' ELSE 'PROCESSED' END,
		CASE WHEN i <= 5 THEN 'the receiver answered 422' END, 1, 422, 'answered hunter2',
		CASE WHEN i > 8 THEN timestamptz '2026-01-02 03:04:05.5Z' END, timestamptz '2026-01-01 00:00:00Z' + i * interval '1 hour',
		CASE WHEN i = 6 THEN 'infinity' ELSE timestamptz '2026-01-03 00:00:00Z' END
	FROM generate_series(1, 10) i`

func TestOutboxListPages(t *testing.T) {
	url := idemtest.URL(t, someEvents)
	for status, total := range map[string]int{"dead": 5, "pending": 3, "processed": 2} {
		seen, after := map[string]bool{}, ""
		for pages := 0; pages == 0 || after != ""; pages++ {
			args := []string{"outbox", "list", "--db", url, "--status", status, "--limit", "2", "--format", "json"}
			if after != "" {
				args = append(args, "--after", after)
			}
			code, stdout, stderr := exec(t, Env{}, args...)
			var got eventsJSON
			if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK || stderr != "" || len(got.Events) > 2 || pages > 3 {
				t.Fatalf("%d %v\n%s%s", code, err, stdout, stderr)
			}
			for _, e := range got.Events {
				if seen[e.ID] {
					t.Errorf("%s: %s comes twice", status, e.ID)
				}
				seen[e.ID] = true
			}
			after = got.Next
		}
		if len(seen) != total {
			t.Errorf("%s: %d events", status, len(seen))
		}
	}
}

func TestOutboxListAsText(t *testing.T) {
	url := idemtest.URL(t, someEvents)
	code, stdout, stderr := exec(t, Env{}, "outbox", "list", "--db", url, "--scope", "acme", "--limit", "1")
	want := regexp.MustCompile(`^ID +SCOPE +TOPIC +ORDER KEY +CREATED +FAILED +STATE\n` +
		`[0-9a-f-]{36} +acme +paid +o +2026-01-01T02:00:00Z +1 +the receiver answered 422\nmore: add --after [\w-]+\n$`)
	if code != exitOK || !want.MatchString(stdout) || stderr != "" {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	_, stdout, _ = exec(t, Env{}, "outbox", "list", "--db", url, "--status", "pending")
	for _, part := range []string{`"od\nd"`, "waits for the one ahead of it", "due 2026-01-03T00:00:00Z"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("no %s in\n%s", part, stdout)
		}
	}
	if code, stdout, _ = exec(t, Env{}, "outbox", "list", "--db", url, "--topic", "nothing"); code != exitOK || stdout != "no dead events\n" {
		t.Errorf("%d %s", code, stdout)
	}
}

// Payloads and answers are shown only where they are asked for.
func TestOutboxShow(t *testing.T) {
	url := idemtest.URL(t, someEvents)
	_, stdout, _ := exec(t, Env{}, "outbox", "list", "--db", url, "--format", "json", "--limit", "1")
	var listed eventsJSON
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil {
		t.Fatal(err)
	}
	id := listed.Events[0].ID
	for _, format := range []string{"text", "json"} {
		code, without, stderr := exec(t, Env{}, "outbox", "show", id, "--db", url, "--format", format)
		if code != exitOK || stderr != "" || strings.Contains(without, "hunter2") || !strings.Contains(without, "svc.Pay") {
			t.Errorf("%d\n%s%s", code, without, stderr)
		}
		_, with, _ := exec(t, Env{}, "outbox", "show", id, "--db", url, "--format", format, "--show-body")
		if strings.Count(with, "hunter2") != 2 {
			t.Error(with)
		}
	}
}

func TestOutboxRetryAndDiscard(t *testing.T) {
	url := idemtest.URL(t, someEvents)
	pool := idemtest.Open(t, url, nil)
	for _, c := range []struct {
		args         string
		code         int
		stdout, left string
	}{
		{"retry --scope nobody", exitFindings, "retried 0 events\n", "DEAD 5, PENDING 3, PROCESSED 2"},
		{"discard --scope acme --yes", exitOK, "discarded 2 events\n", "DEAD 3, PENDING 3, PROCESSED 4"},
		{"retry --topic paid", exitOK, "retried 3 events\n", "PENDING 6, PROCESSED 4"},
		{"retry --all --format json", exitFindings, "{\n  \"retried\": 0\n}\n", "PENDING 6, PROCESSED 4"},
	} {
		code, stdout, stderr := exec(t, Env{}, append([]string{"outbox", "--db", url}, strings.Fields(c.args)...)...)
		var left string
		err := pool.QueryRow(t.Context(), `SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM (SELECT status, count(*) n FROM idem.outbox GROUP BY 1) x`).Scan(&left)
		if err != nil || code != c.code || stdout != c.stdout || left != c.left || stderr != "" {
			t.Errorf("%s: %d %v, %s\n%s%s", c.args, code, err, left, stdout, stderr)
		}
	}
	var let int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM idem.outbox WHERE due_at = 'infinity'").Scan(&let); err != nil || let != 0 {
		t.Errorf("%d still wait: %v", let, err)
	}
}

func TestOutboxFailures(t *testing.T) {
	url := idemtest.URL(t, someEvents)
	for args, want := range map[string]string{
		"list --status ded": "did you mean dead?",
		"list --limit 0":    "use 1 to 10000",
		"list --after x":    "the same --status",
		"show":              "IDs are what",
		"show paid":         "IDs are what",
		"show 0f8fad5b-d9cb-469f-a165-70867728950e": "IDs are what",
		"retry":         "--topic or --all",
		"retry 1 2":     `takes no argument "2"`,
		"discard --all": "add --yes",
		"discard x":     "IDs are what",
		"frobnicate":    "unknown command",
	} {
		command := strings.Fields("outbox " + args)
		if args != "frobnicate" {
			command = append(command, "--db", url)
		}
		code, stdout, stderr := exec(t, Env{}, command...)
		if code != exitFailed || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%s: %d\n%s%s", args, code, stdout, stderr)
		}
	}
	code, _, stderr := exec(t, Env{}, "outbox", "list", "--db", idemtest.URL(t, "DROP SCHEMA idem CASCADE"))
	if code != exitFailed || !strings.Contains(stderr, "apply the service's migrations") {
		t.Errorf("%d %s", code, stderr)
	}
}

// Pages of a large outbox are read along an index, wherever they begin.
func TestOutboxListStaysOnItsIndexes(t *testing.T) {
	pool := idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, created_at, processed_at, due_at)
		SELECT 's' || i % 50, 'o', 't' || i % 7, 'k' || i, '{}', s, clock_timestamp() - i * interval '1 s', CASE WHEN s = 'PROCESSED' THEN clock_timestamp() - i * interval '1 s' END,
			clock_timestamp() + i * interval '1 s'
		FROM generate_series(1, 200000) i, LATERAL (SELECT (ARRAY['PROCESSED', 'PROCESSED', 'PENDING', 'DEAD'])[1 + i % 4] s) x`, "ANALYZE idem.outbox")
	for status := range eventOrders {
		first := eventSearch{status: status, limit: 50}
		rows, err := first.page(t.Context(), pool)
		if err != nil || len(rows) != 50 {
			t.Fatalf("%s: %d rows, %v", status, len(rows), err)
		}
		next := first
		next.after = rows[49].place
		filtered := next
		filtered.scope, filtered.topic = "s7", "t3"
		for _, search := range []eventSearch{first, next, filtered} {
			sql, args := search.sql()
			plan := explainPlan(t, pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, append([]any{pgx.QueryExecModeExec}, args...)...))
			if strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s reads the table:\n%s", status, plan)
			}
			if search.scope == "" && (strings.Contains(plan, `"Sort"`) || strings.Contains(plan, "Bitmap")) {
				t.Errorf("%s does not follow an index:\n%s", status, plan)
			}
		}
	}
}

func explainPlan(t *testing.T, row pgx.Row) string {
	t.Helper()
	var plan json.RawMessage
	if err := row.Scan(&plan); err != nil {
		t.Fatal(err)
	}
	return string(plan)
}

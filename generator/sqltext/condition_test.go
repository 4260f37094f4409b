package sqltext

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCase_intent_where_Accepted(t *testing.T) {
	for text, want := range map[string]string{
		"note IS NULL":                         "[{note 0}] []",
		"status <> 'captured' AND active":      "[{status 0} {active 25}] [{active 25}]",
		"NOT (deleted) OR kind IN ('a', 'b')":  "[{deleted 5} {kind 17}] [{deleted 5}]",
		"lower(note) = 'x;y--z'":               "[{note 6}] []",
		`"Note" ~ '^a$'`:                       "[{Note 0}] []",
		"x BETWEEN 1 AND 2":                    "[{x 0}] []",
		"(a, b) IS DISTINCT FROM (1, 2)":       "[{a 1} {b 4}] []",
		"(meta ->> 'kind')::bool":              "[{meta 1}] []",
		"kind = ANY (ARRAY['ä', 'b']) AND c":   "[{kind 0} {c 34}] [{c 34}]",
		"created_at > '2024-01-01'::timestamp": "[{created_at 0}] []",
		"coalesce(active, true) IS TRUE":       "[{active 9}] []",
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fmt.Sprint(c.Columns, c.Booleans); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestCase_intent_where_Refused(t *testing.T) {
	for _, tt := range []struct {
		text, message string
		offset        int
	}{
		{"a = 1 -- b", "comment", 6},
		{"a /* b */ = 1", "comment", 2},
		{"a = $1", "parameter $1", 4},
		{"a = 1; DROP TABLE t", "semicolon", 5},
		{"a = 1) OR (b = 2", "parenthesis", 5},
		{"a = 1 GROUP BY a", "syntax error", 6},
		{"a = ", "syntax error", 4},
		{"a = 1 b", "syntax error", 6},
		{"a = 'open", "unterminated", 4},
		{"a = 'x\n-- +goose Down'", "several lines", 4},
		{"EXISTS (SELECT 1)", "query in it", 0},
		{"a = (SELECT 1)", "query in it", 4},
		{"count(*) > 1", "several rows", 0},
		{"sum(a) > 1", "several rows", 0},
		{"row_number() OVER () = 1", "several rows", 0},
		{"unnest(a)", "gives several rows", 0},
		{"a > now()", "another value each time", 4},
		{"a > pg_catalog.now()", "another value each time", 4},
		{"a < current_timestamp", "when and by whom", 4},
		{"a = current_user", "when and by whom", 4},
		{"a = current_setting('x')", "another value each time", 4},
		{"random() < 0.5", "another value each time", 0},
		{"nextval('s') > 1", "another value each time", 0},
		{"id = gen_random_uuid()", "another value each time", 5},
		{"t.a = 1", "without their table", 0},
		{"t.* IS NULL", "star", 0},
		{"a + 1", "no condition", 2},
		{"a || 'x'", "no condition", 2},
		{"'x'", "no condition", 0},
		{"a, b", "no condition", 0},
		{"a = DEFAULT", "DEFAULT", 4},
		{"a::text", "no condition", 1},
		{"a = 1 AND b - 1", "no condition", 12},
		{"a = 1 UNION SELECT 2", "syntax error", 6},
	} {
		_, err := ParseCondition(tt.text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.message) || e.Offset != tt.offset {
			t.Errorf("%q: %+v, want %s at %d", tt.text, err, tt.message, tt.offset)
			if e != nil {
				t.Log(e.Offset)
			}
		}
	}
}

package sqltext

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parts is what a test wants of a statement: the text of each part by name.
type parts map[string]string

func (p parts) clause(text, name string, c *Clause) {
	if c != nil {
		p[name] = c.In(text)
		p[name+" body"] = c.Body.In(text)
	}
}

func partsOf(s *Statement) parts {
	p := parts{"kind": string(s.Kind), "verb": strings.ToLower(firstWord(s.Text[s.Verb:s.End]))}
	t := s.Text
	if !s.Target.IsZero() {
		p["target"], p["target name"] = s.Target.In(t), s.Target.NameSpan.In(t)
		p["alias"] = s.Target.Alias
	}
	if s.With != nil {
		p["with"] = s.With.In(t)
		p["with body"] = s.With.Body.In(t)
		for _, c := range s.With.CTEs {
			p["cte "+c.Name] = c.Query.In(t)
			p["cte "+c.Name+" span"] = c.In(t)
		}
	}
	if s.Columns != nil {
		p["columns"] = s.Columns.In(t)
	}
	if s.Source != nil {
		p["source"], p["source kind"] = s.Source.In(t), string(s.Source.Kind)
		for _, r := range s.Source.Rows {
			var exprs []string
			for _, e := range r.Exprs {
				text := e.In(t)
				if e.Default {
					text = "<default>"
				}
				exprs = append(exprs, text)
			}
			p["rows"] += "[" + strings.Join(exprs, "|") + "]"
		}
	}
	p.clause(t, "overriding", s.Overriding)
	p.clause(t, "set", s.Set)
	p.clause(t, "from", s.From)
	p.clause(t, "where", s.Where)
	p.clause(t, "group", s.GroupBy)
	p.clause(t, "having", s.Having)
	p.clause(t, "window", s.Window)
	p.clause(t, "order", s.OrderBy)
	p.clause(t, "limit", s.Limit)
	p.clause(t, "offset", s.Offset)
	p.clause(t, "locking", s.Locking)
	p.clause(t, "conflict", s.OnConflict)
	p.clause(t, "returning", s.Returning)
	return p
}

func firstWord(s string) string {
	if strings.HasPrefix(s, "(") {
		return "("
	}
	return strings.Fields(s)[0]
}

func TestParseParts(t *testing.T) {
	tests := []struct {
		name, sql string
		want      parts // the parts to compare; "" means absent
	}{
		{"insert values", `/* é */ INSERT INTO shop.payments AS p (a, "B", c)
VALUES ('é, (', coalesce($1, ARRAY[1,2]), DEFAULT) -- done
ON CONFLICT (a) DO UPDATE SET b = 1 WHERE p.a = 2 RETURNING a, p.returning; -- end`, parts{
			"kind": "insert", "verb": "insert", "target": "shop.payments AS p", "target name": "shop.payments",
			"alias": "p", "columns": `(a, "B", c)`, "source kind": "values",
			"source": "VALUES ('é, (', coalesce($1, ARRAY[1,2]), DEFAULT)",
			"rows":   "['é, ('|coalesce($1, ARRAY[1,2])|<default>]", "where": "",
			"conflict":       "ON CONFLICT (a) DO UPDATE SET b = 1 WHERE p.a = 2",
			"returning body": "a, p.returning",
		}},
		{"insert rows", "INSERT INTO t VALUES (1, (2)), (f(3, 4), 5)", parts{
			"rows": "[1|(2)][f(3, 4)|5]", "columns": "", "returning": "", "conflict": "", "target": "t"}},
		{"insert default values", "insert into t default values returning id", parts{
			"source kind": "default", "source": "default values", "returning body": "id"}},
		{"insert overriding", "INSERT INTO t (id) OVERRIDING SYSTEM VALUE VALUES ($1)", parts{
			"overriding": "OVERRIDING SYSTEM VALUE", "rows": "[$1]"}},
		{"insert select with conflicting names", `WITH d AS (SELECT 1 WHERE true)
INSERT INTO t (a) WITH x AS (SELECT 2 a) SELECT x.a FROM x JOIN y conflict ON conflict.a = x.a WHERE y.b RETURNING *`, parts{
			"with": "WITH d AS (SELECT 1 WHERE true)", "verb": "insert", "source kind": "select",
			"source":    "WITH x AS (SELECT 2 a) SELECT x.a FROM x JOIN y conflict ON conflict.a = x.a WHERE y.b",
			"returning": "RETURNING *", "conflict": "", "where": ""}},
		{"insert parenthesised select", "INSERT INTO t (SELECT 1) RETURNING a AS returning", parts{
			"columns": "", "source": "(SELECT 1)", "source kind": "select", "returning body": "a AS returning"}},
		{"insert values limit", "INSERT INTO t VALUES (1), (2) LIMIT 1", parts{"source kind": "select", "rows": ""}},
		{"update", `UPDATE ONLY accounts AS set SET a = CASE WHEN b IS DISTINCT FROM 'where' THEN 1 END, c = (SELECT 1 FROM z WHERE q)
FROM (SELECT 1 WHERE x) s WHERE set.id = $1 OR (b) RETURNING old.a`, parts{
			"kind": "update", "target": "ONLY accounts AS set", "alias": "set", "target name": "accounts",
			"set body": "a = CASE WHEN b IS DISTINCT FROM 'where' THEN 1 END, c = (SELECT 1 FROM z WHERE q)",
			"from":     "FROM (SELECT 1 WHERE x) s", "where body": "set.id = $1 OR (b)", "returning body": "old.a"}},
		{"update no where", "UPDATE t SET a = 1", parts{"where": "", "from": "", "set": "SET a = 1", "target": "t"}},
		{"delete", "DELETE FROM t * x USING u WHERE x.id = u.id AND NOT $1 RETURNING x.*", parts{
			"kind": "delete", "target": "t * x", "alias": "x", "from body": "u",
			"where body": "x.id = u.id AND NOT $1", "returning": "RETURNING x.*"}},
		{"delete bare", "DELETE FROM only (t)", parts{"target": "only (t)", "target name": "t", "where": ""}},
		{"select", `SELECT DISTINCT rows, percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS order, sum(a) FILTER (WHERE b) OVER (ORDER BY c) AS "limit"
FROM t, ROWS FROM (f(1)) WHERE a IS NOT DISTINCT FROM b AND t.where = 1 GROUP BY a HAVING true WINDOW w AS (ORDER BY c)
ORDER BY 1, 2 LIMIT 5 OFFSET $1 FOR UPDATE OF t SKIP LOCKED`, parts{
			"kind": "select", "verb": "select", "from body": "t, ROWS FROM (f(1))",
			"where body": "a IS NOT DISTINCT FROM b AND t.where = 1", "group body": "a", "having body": "true",
			"window body": "w AS (ORDER BY c)", "order body": "1, 2", "limit body": "5", "offset body": "$1",
			"locking": "FOR UPDATE OF t SKIP LOCKED"}},
		{"select two locks", "SELECT 1 FROM a, b FOR UPDATE OF a FOR SHARE OF b", parts{
			"locking": "FOR UPDATE OF a FOR SHARE OF b", "from": "FROM a, b"}},
		{"union", "SELECT 1 FROM a WHERE x UNION ALL SELECT 2 FROM b ORDER BY 1", parts{
			"from": "", "where": "", "order": "ORDER BY 1"}},
		{"parenthesised", "WITH a AS MATERIALIZED (SELECT 1) (SELECT 2 FROM a WHERE x) ORDER BY 1", parts{
			"verb": "(", "where": "", "order": "ORDER BY 1", "cte a": "SELECT 1"}},
		{"ctes", `WITH RECURSIVE a(n) AS NOT MATERIALIZED (SELECT 1, ')'), b AS (SELECT 2)
  SEARCH DEPTH FIRST BY x, y SET ord CYCLE x, y SET c TO true DEFAULT false USING p, d AS (DELETE FROM t RETURNING 1) SELECT 3`, parts{
			"cte a": "SELECT 1, ')'", "cte d": "DELETE FROM t RETURNING 1", "cte d span": "d AS (DELETE FROM t RETURNING 1)",
			"cte b span": "b AS (SELECT 2)\n  SEARCH DEPTH FIRST BY x, y SET ord CYCLE x, y SET c TO true DEFAULT false USING p",
			"verb":       "select"}},
		{"values", "VALUES (1), (2) ORDER BY 1", parts{"kind": "select", "verb": "values", "order body": "1"}},
		{"not a dml", "CREATE TABLE t (a int)", parts{"kind": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.sql)
			if err != nil {
				t.Fatal(err)
			}
			got := partsOf(s)
			for name, want := range tt.want {
				if got[name] != want {
					t.Errorf("%s: got %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestParseModifyingCTEs(t *testing.T) {
	for sql, want := range map[string]bool{
		"WITH d AS (DELETE FROM t RETURNING 1) SELECT * FROM d":                      true,
		"WITH d AS (SELECT 1) SELECT * FROM d":                                       false,
		"INSERT INTO t WITH d AS (UPDATE u SET a = 1 RETURNING 1) SELECT * FROM d":   true,
		"WITH d AS (SELECT 'DELETE FROM t') INSERT INTO t SELECT * FROM d":           false,
		"WITH a AS (SELECT 1), d AS (INSERT INTO t VALUES (1) RETURNING 1) SELECT 1": true,
	} {
		s, err := Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.ModifyingCTEs(); got != want {
			t.Errorf("%s: got %v", sql, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		sql, message string
		offset       int
	}{
		{"SELECT 'é', 1 FROM FROM x", `syntax error at or near "FROM"`, 20},
		{"SELECT 'é' || 'abc", "unterminated quoted string", 15},
		{"-- nothing\n", "no statement", 11},
		{"SELECT 1; SELECT 2", "more than one statement", 10},
	}
	for _, tt := range tests {
		_, err := Parse(tt.sql)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.message) || e.Offset != tt.offset {
			t.Errorf("%s: got %+v", tt.sql, err)
		}
	}
}

func TestParams(t *testing.T) {
	const sql = `SELECT $1, '$2', $$ $3 $$, "$4", /* $5 */ a$6, $10::text -- $7`
	s, err := Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, p := range s.Params {
		got = append(got, p.Param)
	}
	if !slices.Equal(got, []int{1, 10}) {
		t.Errorf("params: %v", got)
	}
	want := strings.Replace(strings.Replace(sql, "$10", "$12", 1), "$1,", "$3,", 1)
	if got := ReplaceParams(sql, func(n int) string { return "$" + strconv.Itoa(n+2) }); got != want {
		t.Errorf("renumbered: %s", got)
	}
}

func TestTablesUsed(t *testing.T) {
	got, err := TablesUsed("WITH idem_x AS (SELECT 1 FROM a.b) UPDATE t SET a = (SELECT 1 FROM (SELECT 2 FROM deep) x) FROM idem_x, t")
	if err != nil || !slices.Equal(got, []string{"b", "deep", "idem_x", "t"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

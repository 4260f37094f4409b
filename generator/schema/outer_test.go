package schema

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/idem/idemtest"
)

const outerTables = `
CREATE TABLE a (id bigint NOT NULL, name text NOT NULL);
CREATE TABLE b (id bigint NOT NULL, a_id bigint NOT NULL, qty int NOT NULL, ok boolean NOT NULL);
CREATE TABLE c (id bigint NOT NULL, b_id bigint NOT NULL, tag text NOT NULL);
CREATE FUNCTION fb(bigint) RETURNS SETOF b LANGUAGE sql AS 'SELECT * FROM b WHERE a_id = $1';
`

// Each table has rows that match nothing in the others, so that a column which
// a join can leave null is null in some row, and has no null of its own.
const outerRows = `
INSERT INTO a VALUES (1, 'x'), (2, 'y');
INSERT INTO b VALUES (1, 1, 5, true), (9, 9, 7, true);
INSERT INTO c VALUES (1, 1, 't'), (8, 8, 'u');
`

// TestOuterNullsAreThoseOfPostgreSQL runs each query: exactly the columns that
// the analysis names are null in a row of the answer.
func TestOuterNullsAreThoseOfPostgreSQL(t *testing.T) {
	pool := idemtest.Pool(t)
	if _, err := pool.Exec(context.Background(), outerTables+outerRows, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	cat := mustBuild(t, outerTables)
	for _, tt := range []struct{ sql, nulls string }{
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id", "qty:LEFT JOIN b.qty"},
		{"SELECT id, qty FROM (SELECT a.name AS id FROM a) x LEFT JOIN (SELECT qty FROM b WHERE false) s ON true", "qty:LEFT JOIN s.qty"},
		{"SELECT a.id, s.* FROM a LEFT JOIN (SELECT a_id, qty FROM b) s ON s.a_id = a.id", "a_id:LEFT JOIN s.a_id qty:LEFT JOIN s.qty"},
		{"SELECT a.id, s.qty FROM a LEFT JOIN LATERAL (SELECT qty FROM b WHERE b.a_id = a.id LIMIT 1) s ON true", "qty:LEFT JOIN s.qty"},
		{"SELECT a.id, f.qty FROM a LEFT JOIN fb(a.id) f(id, a_id, qty, ok) ON true", "qty:LEFT JOIN f.qty"},
		{"SELECT a.id, g FROM a LEFT JOIN unnest(ARRAY[1, 3]) g ON g = a.id", "g:LEFT JOIN g.g"},
		{"SELECT a.id, v.y FROM a LEFT JOIN (VALUES (1, 'x')) v(x, y) ON v.x = a.id", "y:LEFT JOIN v.y"},
		{"WITH s AS (SELECT a_id, qty FROM b) SELECT a.id, t.qty FROM a LEFT JOIN s t ON t.a_id = a.id", "qty:LEFT JOIN t.qty"},
		{"WITH s AS (SELECT a.id, b.qty AS n FROM a LEFT JOIN b ON b.a_id = a.id) SELECT id, n FROM s", "n:LEFT JOIN b.qty"},
		{"SELECT t.id, t.qty FROM (SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id) t", "qty:LEFT JOIN b.qty"},
		{"SELECT id, name FROM a UNION ALL SELECT b.id, c.tag FROM b LEFT JOIN c ON c.b_id = b.id", "name:LEFT JOIN c.tag"},
		{"SELECT s.qty, a.name FROM (SELECT a_id, qty FROM b) s RIGHT JOIN a ON s.a_id = a.id", "qty:RIGHT JOIN s.qty"},
		{"SELECT b.qty, a.name FROM b FULL JOIN a ON b.a_id = a.id", "qty:FULL JOIN b.qty name:FULL JOIN a.name"},
		{"SELECT a.name, b.qty, c.tag FROM a LEFT JOIN (b JOIN c ON c.b_id = b.id) ON b.a_id = a.id", "qty:LEFT JOIN b.qty tag:LEFT JOIN c.tag"},
		{"SELECT a.name, b.qty, c.tag FROM a JOIN b ON b.a_id = a.id RIGHT JOIN c ON c.b_id = b.id", "name:RIGHT JOIN a.name qty:RIGHT JOIN b.qty"},
		{"SELECT a.name, b.qty, c.tag FROM a LEFT JOIN b ON b.a_id = a.id LEFT JOIN c ON c.b_id = b.id", "qty:LEFT JOIN b.qty tag:LEFT JOIN c.tag"},
		{"UPDATE a SET name = 'z' FROM b LEFT JOIN c ON c.b_id = b.id WHERE b.id = 9 RETURNING a.id, b.qty, c.tag", "tag:LEFT JOIN c.tag"},
		{"DELETE FROM a USING b LEFT JOIN c ON c.b_id = b.id WHERE b.id = 9 RETURNING b.qty, c.tag", "tag:LEFT JOIN c.tag"},

		// expressions that are null with their column
		{"SELECT b.qty::bigint AS q, b.qty + 1 AS r, upper(c.tag) AS s FROM a LEFT JOIN b ON b.a_id = a.id LEFT JOIN c ON c.b_id = b.id",
			"q:LEFT JOIN b.qty~ r:LEFT JOIN b.qty~ s:LEFT JOIN c.tag~"},
		{"SELECT a.id, sum(b.qty) AS total, count(b.qty) AS n FROM a LEFT JOIN b ON b.a_id = a.id GROUP BY a.id", "total:LEFT JOIN b.qty~"},
		{"SELECT coalesce(b.qty, 0) AS q, b.id IS NULL AS none, CASE WHEN b.id IS NULL THEN 1 ELSE b.qty END AS r, 'a' || coalesce(c.tag, '') AS s " +
			"FROM a LEFT JOIN b ON b.a_id = a.id LEFT JOIN c ON c.b_id = b.id", ""},

		// conditions that such rows don't meet
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE b.qty > 0", ""},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE a.id > 0 AND b.id IS NOT NULL", ""},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE b.ok", ""},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE NOT (b.qty = 3)", ""},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE b.id IN (1, 2) AND b.qty BETWEEN 1 AND 9", ""},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE b.id IN (SELECT b_id FROM c)", ""},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE (b.qty > 0) IS TRUE", ""},
		{"SELECT a.id, sum(b.qty) AS t FROM a LEFT JOIN b ON b.a_id = a.id GROUP BY a.id HAVING sum(b.qty) > 0", ""},
		{"SELECT a.id, b.qty, c.tag FROM a LEFT JOIN b ON b.a_id = a.id JOIN c ON c.b_id = b.id", ""},
		{"SELECT a.id, b.qty, c.tag FROM a LEFT JOIN (b LEFT JOIN c ON c.b_id = b.id) ON b.a_id = a.id WHERE c.tag = 't'", ""},
		{"SELECT a.name, b.qty FROM b FULL JOIN a ON b.a_id = a.id WHERE a.name = 'y'", "qty:FULL JOIN b.qty"},
		{"SELECT a.name, b.qty FROM b FULL JOIN a ON b.a_id = a.id WHERE b.qty > 0", "name:FULL JOIN a.name"},
		{"SELECT a.name, b.qty FROM b RIGHT JOIN a ON b.a_id = a.id WHERE b.qty > 0", ""},
		{"SELECT c.tag, b.qty FROM a LEFT JOIN b ON b.a_id = a.id LEFT JOIN c ON c.b_id = b.id AND a.id = 1", "tag:LEFT JOIN c.tag qty:LEFT JOIN b.qty"},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id AND b.qty > 0", "qty:LEFT JOIN b.qty"},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE b.qty > 0 OR a.id > 0", "qty:LEFT JOIN b.qty"},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE b.id IS NULL", "qty:LEFT JOIN b.qty"},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE (b.qty > 0) IS NOT FALSE", "qty:LEFT JOIN b.qty"},
		{"SELECT a.id, b.qty FROM a LEFT JOIN b ON b.a_id = a.id WHERE NOT (b.qty > 0 AND a.id > 5)", "qty:LEFT JOIN b.qty"},
	} {
		shape := cat.Analyze(tt.sql, diag.Pos{}, &diag.List{})
		var got, names []string
		for _, n := range shape.OuterNulls {
			text := n.Name + ":" + n.Join + " " + n.Relation + "." + n.Column
			if !n.Plain {
				text += "~"
			}
			got, names = append(got, text), append(names, n.Name)
		}
		if text := strings.Join(got, " "); text != tt.nulls {
			t.Errorf("%s\n got %q\nwant %q", tt.sql, text, tt.nulls)
		}
		if real := nullColumns(t, pool, tt.sql); real != strings.Join(names, " ") {
			t.Errorf("%s\nPostgreSQL has nulls in %q, the analysis in %q", tt.sql, real, strings.Join(names, " "))
		}
	}
}

// nullColumns are the result columns that are null in some row; nothing that
// the statement writes stays.
func nullColumns(t *testing.T, pool *pgxpool.Pool, sql string) string {
	t.Helper()
	tx, err := pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	rows, err := tx.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToMap)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %v, %d rows", sql, err, len(all))
	}
	var out []string
	for _, f := range rows.FieldDescriptions() {
		for _, row := range all {
			if row[f.Name] == nil {
				out = append(out, f.Name)
				break
			}
		}
	}
	return strings.Join(out, " ")
}

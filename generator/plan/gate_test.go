package plan

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

// gateTables are what the statements of this file read and write.
const gateTables = `
CREATE TABLE orders (id bigint, tenant_id text, amount bigint);
CREATE TABLE tallies (tenant_id text, n bigint);
CREATE TABLE calls (n bigint);
CREATE SEQUENCE counter;
CREATE AGGREGATE my_sum(bigint) (sfunc = int8pl, stype = bigint, initcond = '0');
CREATE FUNCTION next_state(bigint, orders) RETURNS bigint LANGUAGE sql AS 'SELECT $1 + 1';
CREATE AGGREGATE counted(orders) (sfunc = next_state, stype = bigint, initcond = '0');
CREATE FUNCTION call() RETURNS boolean LANGUAGE sql AS 'INSERT INTO calls VALUES (1) RETURNING true';
CREATE FUNCTION doubled(n bigint) RETURNS bigint LANGUAGE sql AS 'SELECT n * 2';`

// unmigrated is what no migration makes: an extension's aggregate.
const unmigrated = `CREATE AGGREGATE theirs(bigint) (sfunc = int8pl, stype = bigint, initcond = '0');`

// analyzed plans a statement whose shape package schema finds.
func analyzed(t *testing.T, s step) *Operation {
	t.Helper()
	var diags diag.List
	cat := schema.Build([]schema.File{{Path: "db/migrations/a.sql", Text: gateTables}}, &diags)
	s = emitting(s, model.Event{Topic: "told"}) // a replay tells nothing either
	change := s.change
	s.change = func(st *model.Step) {
		st.Query.Shape = cat.Analyze(st.Query.SQL, diag.Pos{File: "q.sql", Line: 1, Col: 1}, &diags)
		if change != nil {
			change(st)
		}
	}
	op := operation(t, s.name, nil, s)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return planned(t, op)
}

// Pitfall 11: a condition inside a query decides neither about the row of an
// aggregate nor about all that its functions do. Whatever feeds an INSERT, a
// replay writes nothing and calls nothing.
func TestPitfall_11_ReplaysWriteAndCallNothing(t *testing.T) {
	tests := []struct {
		name, sql string
		want      Strategy
	}{
		{"aggregate of the user's", "SELECT @tenant_id::text, my_sum(amount) FROM orders", Verbatim},
		{"aggregate of an extension", "SELECT @tenant_id::text, theirs(amount) FROM orders", Verbatim},
		{"aggregate of the user's in the way of a column", "SELECT @tenant_id::text, o.counted FROM orders o", Verbatim},
		{"aggregate over an outer column", "SELECT @tenant_id::text, (SELECT sum(o.amount)::bigint) FROM orders o", Verbatim},
		{"two levels above", "SELECT @tenant_id::text, (SELECT (SELECT max(o.amount) FROM calls) FROM calls c LIMIT 1) FROM orders o", Verbatim},
		{"outer column in the filter", "SELECT @tenant_id::text, (SELECT count(*) FILTER (WHERE o.amount > 0) FROM (SELECT 1) c) FROM orders o", Verbatim},
		{"outer column in a sub-select of the argument", "SELECT @tenant_id::text, (SELECT sum((SELECT o.amount))::bigint) FROM orders o", Verbatim},
		{"outer alias hidden beside, not around", "SELECT @tenant_id::text, (SELECT max(o.amount) WHERE EXISTS (SELECT FROM calls o)) FROM orders o", Verbatim},
		{"aggregate in ORDER BY", "SELECT @tenant_id::text, 1 FROM orders ORDER BY my_sum(amount)", Verbatim},
		{"aggregate of a sub-select", "SELECT @tenant_id::text, (SELECT sum(i.amount)::bigint FROM orders i WHERE i.id <= o.id) FROM orders o", Fused},
		{"aggregate of a sub-select in FROM", "SELECT @tenant_id::text, s.n FROM (SELECT my_sum(amount) AS n FROM orders) s", Fused},
		{"aggregate in a CTE", "WITH s AS (SELECT my_sum(amount) AS n FROM orders) SELECT @tenant_id::text, s.n FROM s", Fused},
		{"distinct", "SELECT DISTINCT @tenant_id::text, nextval('counter') FROM orders", Verbatim},
		{"having", "SELECT @tenant_id::text, nextval('counter') FROM orders HAVING true", Verbatim},
		{"union", "SELECT @tenant_id::text, nextval('counter') UNION SELECT 'x', nextval('counter')", Verbatim},
		{"values", "VALUES (@tenant_id, nextval('counter'))", Fused},
		{"two values", "VALUES (@tenant_id, nextval('counter')), ('x', 1)", Verbatim},
		{"values in FROM", "SELECT v.* FROM (VALUES (@tenant_id::text, nextval('counter')), ('x', 1)) v", Fused},
		{"set in the list", "SELECT @tenant_id::text, generate_series(1, 3)", Fused},
		{"set in FROM", "SELECT @tenant_id::text, g + nextval('counter') FROM generate_series(1, 3) g", Fused},
		{"window", "SELECT @tenant_id::text, row_number() OVER (ORDER BY id) + nextval('counter') FROM orders", Verbatim},
		{"named window", "SELECT @tenant_id::text, sum(amount) OVER w FROM orders WINDOW w AS (ORDER BY id)", Verbatim},
		{"limit", "SELECT @tenant_id::text, nextval('counter') FROM orders LIMIT 1", Verbatim},
		{"offset", "SELECT @tenant_id::text, nextval('counter') FROM orders OFFSET 1", Verbatim},
		{"lock", "SELECT @tenant_id::text, nextval('counter') FROM orders FOR UPDATE", Fused},
		{"nextval", "SELECT @tenant_id::text, nextval('counter') FROM orders", Fused},
		{"nextval in a sub-select", "SELECT @tenant_id::text, (SELECT nextval('counter')) FROM orders", Fused},
		{"nextval in FROM", "SELECT @tenant_id::text, s.n FROM (SELECT nextval('counter') AS n FROM orders) s", Fused},
		{"nextval in WHERE", "SELECT @tenant_id::text, amount FROM orders WHERE nextval('counter') > 0", Fused},
		{"function of the user's", "SELECT @tenant_id::text, doubled(amount) FROM orders WHERE call() OR call()", Fused},
		{"exists in WHERE", "SELECT @tenant_id::text, amount FROM orders WHERE EXISTS (SELECT FROM call())", Fused},
		{"exists alone", "SELECT @tenant_id::text, 1 WHERE EXISTS (SELECT FROM call()) OR (SELECT call())", Fused},
		{"exists in FROM", "SELECT @tenant_id::text, s.amount FROM (SELECT * FROM orders WHERE EXISTS (SELECT FROM call())) s", Verbatim},
		{"exists in a join", "SELECT @tenant_id::text, o.amount FROM orders o JOIN orders p ON EXISTS (SELECT FROM call())", Verbatim},
		{"exists in a CTE", "WITH s AS (SELECT * FROM orders WHERE (SELECT call())) SELECT @tenant_id::text, s.amount FROM s", Verbatim},
	}
	s := fresh(t, gateTables, unmigrated)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := analyzed(t, step{name: "Tally", command: "one", sql: "INSERT INTO tallies " + tt.sql + " RETURNING n", returns: "n bigint"})
			if op.Strategy != tt.want {
				t.Errorf("%s (%s), want %s", op.Strategy, op.Reason, tt.want)
			}
			s.replaysNothing(t, op)
		})
	}
}

// The same for the other statements.
func TestPitfall_11_ReplaysOfUpdateAndDelete(t *testing.T) {
	s := fresh(t, gateTables)
	for name, sql := range map[string]string{
		"update":              "UPDATE orders SET amount = nextval('counter') WHERE tenant_id = @tenant_id RETURNING amount AS n",
		"update, exists":      "UPDATE orders SET amount = amount + 1 WHERE tenant_id = @tenant_id AND EXISTS (SELECT FROM call()) RETURNING amount AS n",
		"update, join":        "UPDATE orders SET amount = 1 FROM (SELECT (SELECT call()) AS c) x WHERE tenant_id = @tenant_id AND x.c RETURNING amount AS n",
		"update, aggregate":   "UPDATE orders SET amount = (SELECT my_sum(i.amount) FROM orders i) WHERE tenant_id = @tenant_id RETURNING amount AS n",
		"update, from exists": "UPDATE orders o SET amount = 1 FROM (SELECT id FROM orders WHERE EXISTS (SELECT FROM call())) x WHERE tenant_id = @tenant_id RETURNING amount AS n",
		"delete, exists":      "DELETE FROM orders WHERE tenant_id = @tenant_id AND id = 1 AND (SELECT call()) RETURNING nextval('counter') AS n",
		"delete, using":       "DELETE FROM orders o USING (SELECT id FROM orders WHERE EXISTS (SELECT FROM call())) x WHERE tenant_id = @tenant_id RETURNING o.amount AS n",
		"select":              "SELECT doubled(my_sum(amount)) AS n FROM orders WHERE tenant_id = @tenant_id AND call()",
	} {
		t.Run(name, func(t *testing.T) {
			s.replaysNothing(t, analyzed(t, step{name: "Change", command: "one", sql: sql, returns: "n bigint"}))
		})
	}
}

// effects is all that statements of this file can have changed.
const effects = `SELECT (SELECT coalesce(string_agg(o::text, ' ' ORDER BY o), '') FROM orders o) || ' ' || (SELECT count(*) FROM tallies)
	|| ' ' || (SELECT count(*) FROM calls) || ' ' || (SELECT count(*) FROM idem.outbox) || ' ' || (SELECT last_value || is_called::text FROM counter)`

// replaysNothing sends an operation three times under one key.
func (s *server) replaysNothing(t *testing.T, op *Operation) {
	s = &server{t, s.conn}
	s.exec("TRUNCATE orders, tallies, calls, idem.keys, idem.outbox; ALTER SEQUENCE counter RESTART; INSERT INTO orders VALUES (1, 't1', 5), (2, 't1', 6)")
	before := s.text(effects)
	in := values{"tenant_id": "t1"}
	first := s.must(op, "k", in)
	s.equal(first.replayed+first.status, "f201")
	after := s.text(effects)
	if before == after {
		t.Error("the statement does nothing")
	}
	for range 2 {
		again := s.must(op, "k", in)
		s.equal(again.replayed+again.body, "t"+first.body)
		s.equal(s.text(effects), after)
	}
}

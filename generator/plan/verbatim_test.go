package plan

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestVerbatimHoistsWritingCTEs(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "PlaceOrder", nil, placeOrder()))
	in := values{"tenant_id": "t1", "order_id": "o", "amount": "5", "items": `[{"sku": "a", "qty": 1}, {"sku": "b", "qty": 2}]`}
	first := s.must(op, "k", in)
	s.equal(first.replayed+first.status+first.body, `f201{"id":1,"lines":{"count":2,"text":"a\n  b"}}`)
	again := s.must(op, "k", in)
	s.equal(again.replayed+again.status+again.body, "t201"+first.body)
	s.equal(s.text("SELECT count(*) FROM lines"), "2")
	s.exec("UPDATE idem.keys SET expires_at = clock_timestamp()")
	in["order_id"] = "p"
	s.equal(s.must(op, "k", in).replayed, "f")
	s.equal(s.text("SELECT count(*) FROM lines"), "4")
}

// Writes of the user's own expressions have to go where no row comes out: the
// statement raises an error, and the runtime records the problem.
func TestWritingCTEsThatComeOutEmptyAreUndone(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "Pay", nil, step{name: "Pay", command: "one", returns: "id bigint",
		sql: "WITH p AS (INSERT INTO payments (tenant_id, order_id, amount) VALUES (@tenant_id, @order_id, 5) RETURNING id) SELECT id FROM p WHERE id < 0"}))
	if op.Strategy != Verbatim || op.Reason == "" {
		t.Fatalf("%s (%s)", op.Strategy, op.Reason)
	}
	_, err := s.run(op, "k", values{"tenant_id": "t1", "order_id": "o"})
	if state, constraint := code(err); state != "IDM01" || constraint != "@empty" {
		t.Errorf("%s %s: %v", state, constraint, err)
	}
	s.equal(s.text("SELECT (SELECT count(*) FROM payments) + (SELECT count(*) FROM idem.keys)"), "0")
}

// A statement trigger would fire on a gated replay, which changes no row.
func TestPitfall_17_StatementTriggersDontFireOnReplays(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "Watched", nil, watched()))
	s.must(op, "k", values{"name": "x"})
	s.equal(s.must(op, "k", values{"name": "x"}).replayed, "t")
	s.equal(s.text("SELECT count(*) FROM watched_log"), "1")
}

func TestPitfall_17_TablesWithRulesAreStepped(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "Ruled", nil, ruled()))
	rows, err := s.send(op.section(t, "step.Ruled"), "k", values{"name": "x"})
	if err != nil {
		t.Fatal(err)
	}
	s.equal(rows[0][0], `{"n":1,"column_2":"x!"}`)
	s.equal(s.text("SELECT count(*) FROM ruled_log"), "1")
}

// Pitfall 7 where no condition can gate: the claim itself doesn't wait.
func TestPitfall_7_VerbatimRejectDoesNotWait(t *testing.T) {
	url := idemtest.URL(t, tables)
	a, b := serve(t, url), serve(t, url)
	op := planned(t, operation(t, "Watched", reject, watched()))
	a.exec("BEGIN")
	if _, err := a.send(op.section(t, "claim"), "k", nil); err != nil {
		t.Fatal(err)
	}
	_, err := b.run(op, "k", values{"name": "x"})
	if state, _ := code(err); state != "55P03" {
		t.Errorf("beside a running twin: %v", err)
	}
	b.equal(b.text("SELECT count(*) FROM watched"), "0")
}

// Pitfall 9: with the claim first, a twin never skips the row that this
// request has locked.
func TestPitfall_9_SkipLockedComesAfterTheClaim(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5)")
	op := planned(t, operation(t, "TakeJob", nil, takeJob()))
	if op.Strategy != Verbatim {
		t.Errorf("strategy %s", op.Strategy)
	}
	s.equal(s.must(op, "k", values{"tenant_id": "t1"}).body, `{"id":1}`)
	empty := s.must(op, "k2", values{"tenant_id": "t1"})
	s.equal(empty.status+empty.body, "409"+problemBody)
	s.equal(s.must(op, "k2", values{"tenant_id": "t1"}).replayed, "t")
	s.equal(s.text("SELECT string_agg((expires_at - created_at > '3 h')::text, ' ' ORDER BY key) FROM idem.keys"), "true false")
}

// Pitfall 11: INSERT … SELECT count(*) … WHERE gate gives a row on a replay.
func TestPitfall_11_AggregatesAreNotGated(t *testing.T) {
	s := fresh(t, tables)
	count := func(returns string, grouped bool) step {
		return step{name: "Count", command: "one", sql: "INSERT INTO lines (payment_id, sku, qty) SELECT count(*), 'n', @n<integer> FROM payments " +
			"WHERE tenant_id = 'x' OR true RETURNING sku", returns: returns, change: func(s *model.Step) { s.Query.Shape.Grouped = grouped }}
	}
	op := planned(t, operation(t, "Count", nil, count("sku text", true)))
	if op.Strategy != Verbatim {
		t.Errorf("strategy %s", op.Strategy)
	}
	s.must(op, "k", values{"n": "1"})
	s.equal(s.must(op, "k", values{"n": "1"}).replayed, "t")
	s.equal(s.text("SELECT count(*) FROM lines"), "1")
}

func TestStrategies(t *testing.T) {
	plain := func(sql string) step { return step{name: "Q", command: "one", sql: sql, returns: "sku text"} }
	tests := []struct {
		name   string
		step   step
		change func(*model.Operation)
		want   Strategy
	}{
		{"one row", plain("INSERT INTO lines VALUES (1, @sku, 1) RETURNING sku"), nil, Fused},
		{"two rows", plain("INSERT INTO lines VALUES (1, @sku, 1), (2, 'x', 2) RETURNING sku"), nil, Verbatim},
		{"limit", plain("INSERT INTO lines SELECT id, 'x', 1 FROM payments LIMIT 1 RETURNING sku"), nil, Verbatim},
		{"union", plain("INSERT INTO lines SELECT 1, 'x', 1 UNION SELECT 2, 'y', 2 RETURNING sku"), nil, Verbatim},
		{"parentheses", plain("INSERT INTO lines (SELECT id, 'x', 1 FROM payments) RETURNING sku"), nil, Verbatim},
		{"defaults", plain("INSERT INTO watched DEFAULT VALUES RETURNING name"), nil, Fused},
		{"function", plain("SELECT upper(@sku)"), nil, Fused},
		{"aggregate", step{name: "Q", command: "one", sql: "SELECT max(sku) FROM lines", returns: "max text?",
			change: func(s *model.Step) { s.Query.Shape.Grouped = true }}, nil, Verbatim},
		{"read", plain("SELECT sku FROM lines"), read, Direct},
		{"unprotected write", plain("DELETE FROM lines WHERE sku = @sku RETURNING sku"), read, Direct},
		{"serializable", plain("DELETE FROM lines WHERE sku = @sku RETURNING sku"),
			func(op *model.Operation) { op.Policy.Isolation = "serializable" }, Stepped},
		{"sealed", plain("DELETE FROM lines WHERE sku = @sku RETURNING sku"),
			func(op *model.Operation) { op.Policy.Sealed = true }, Stepped},
		{"batch", step{name: "Q", command: "batchexec", sql: "DELETE FROM lines WHERE sku = @sku"}, nil, Stepped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := planned(t, operation(t, "Q", tt.change, tt.step))
			if op.Strategy != tt.want {
				t.Errorf("%s (%s), want %s", op.Strategy, op.Reason, tt.want)
			}
			if slow := op.Strategy == Verbatim || op.Strategy == Stepped; slow != (op.Reason != "") {
				t.Errorf("%s with the reason %q", op.Strategy, op.Reason)
			}
		})
	}
}

func TestKeyedSelectRunsOnce(t *testing.T) {
	s := fresh(t, `CREATE TABLE calls (n int); CREATE FUNCTION call(n int) RETURNS int LANGUAGE sql AS 'INSERT INTO calls VALUES (n) RETURNING n'`)
	call := func(command string) *Operation {
		return planned(t, operation(t, "Call", nil, step{name: "Call", command: command, sql: "SELECT call(g) FROM generate_series(1, @n<integer>) g", returns: "call integer"}))
	}
	s.equal(s.must(call("one"), "k1", values{"n": "3"}).body, `{"call":1}`)
	s.equal(s.must(call("one"), "k1", values{"n": "3"}).replayed, "t")
	s.equal(s.text("SELECT count(*) FROM calls"), "3")
	s.equal(s.must(call("exec"), "k2", values{"n": "3"}).status, "204")
	s.equal(s.must(call("exec"), "k2", values{"n": "3"}).replayed, "t")
	s.equal(s.text("SELECT count(*) FROM calls"), "6")
}

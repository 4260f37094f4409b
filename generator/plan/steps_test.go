package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

// TestStepsFeedEachOther runs a stepped operation's sections one after the
// other, as the runtime does inside its transaction.
func TestStepsFeedEachOther(t *testing.T) {
	s := fresh(t, tables)
	for _, sql := range odd {
		s.exec(sql)
	}
	op := plannedIn(t, session(), transfer(t))
	if op.Strategy != Stepped || op.RoundTrips != 6 {
		t.Errorf("%s, %d round trips", op.Strategy, op.RoundTrips)
	}
	in := values{"tenant_id": "t1", "order_id": "a b", "amount": "5", "sku": "s", "qty": "3"}
	s.exec("BEGIN")
	run := func(section string) [][]string {
		t.Helper()
		rows, err := s.send(op.section(t, section), "", in)
		if err != nil {
			t.Fatalf("%s: %v", section, err)
		}
		return rows
	}
	run("session")
	s.equal(s.text("SELECT current_setting('app.tenant_id')"), "t1")
	pay := op.section(t, "step.Pay").Results
	if !pay.Row || !slices.Equal(pay.JSON, []string{"created_at"}) || !pay.Headers || !slices.Equal(pay.Text, []string{"id", "created_at"}) {
		t.Errorf("results %+v", pay)
	}
	row := run("step.Pay")[0]
	if len(row) != 5 || !strings.HasPrefix(row[0], `{"id":1,"order_id":"a b"`) || row[1] != `"`+row[4]+`"` ||
		row[2] != `{"Location": "/payments/a%20b"}` || row[3] != "1" || !strings.HasSuffix(row[4], "Z") {
		t.Errorf("step.Pay: %q", row)
	}
	in["id"], in["created_at"] = row[3], row[4]
	s.equal(strings.Join(run("step.Lock")[0], " "), "t")
	s.equal(run("step.Line")[0][0], `{"sku":"s","qty":3}`)
	if touch := op.section(t, "step.Touch"); !touch.Results.RowsAffected {
		t.Errorf("step.Touch: %+v", touch.Results)
	}
	run("step.Touch")
	s.equal(s.text("SELECT note || (SELECT payment_id FROM lines) FROM payments"), "x1")
	s.equal(run("existing.Pay")[0][1], `{"Location": "/payments/a%20b"}`)
}

// A step whose columns nobody reads still says how many rows there are.
func TestStepWithoutResults(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO lines VALUES (1, 'a', 1), (1, 'b', 1)")
	first := step{name: "Lock", command: "many", sql: "SELECT sku FROM lines FOR UPDATE", returns: "sku text"}
	second := createPayment()
	op := planned(t, operation(t, "Two", nil, first, second))
	rows, err := s.send(op.section(t, "step.Lock"), "", nil)
	if err != nil || len(rows) != 2 || len(rows[0]) != 0 {
		t.Errorf("%v, %v", rows, err)
	}
}

// The rows of a writing expression are made before the step's own row is read.
func TestStepHoistsWritingCTEs(t *testing.T) {
	s := fresh(t, tables)
	order := placeOrder()
	order.change = func(s *model.Step) {
		s.Requires = []model.Require{{Column: "lines.text"}}
	}
	order.sql = strings.Replace(order.sql, "'a\n  b' AS", "false AS", 1)
	order.returns = "id bigint, lines.count bigint, lines.text bool"
	op := planned(t, operation(t, "Two", nil, order, deleteCustomer()))
	rows, err := s.send(op.section(t, "step.PlaceOrder"), "", values{"tenant_id": "t1", "order_id": "o", "amount": "5", "items": `[{"sku": "a", "qty": 1}]`})
	if err != nil || len(rows) != 1 || rows[0][0] != "f" {
		t.Errorf("%v, %v", rows, err)
	}
	s.equal(s.text("SELECT count(*) FROM lines"), "1")
}

package idem

import (
	"net/http"
	"testing"
)

// placeOrder has a step per line, and a response of several parts.
func placeOrder() *Operation {
	return &Operation{
		Name: "PlaceOrder", Method: http.MethodPost, Path: "/v1/orders", Status: 201, Strategy: Stepped,
		Key: Key{From: KeyHeader}, Policy: shopPolicy(0),
		Fields: []Field{
			{From: FromBody, Name: "lines", Kind: KindRecord, List: true, Required: true, Elem: []Field{
				{Name: "sku", Kind: KindText, Required: true}, {Name: "qty", Kind: KindInt4, Required: true}}},
			{From: FromCaller, Name: "tenant_id", Kind: KindText, Required: true, Scope: true},
		},
		SQL: `
-- statement: step.Order
WITH idem_step AS (INSERT INTO orders (tenant_id) VALUES ($1) RETURNING id, tenant_id)
SELECT (SELECT row_to_json(o)::text FROM (SELECT s.id, s.tenant_id) o), to_json(s.id)::text,
  s.tenant_id = 'big', jsonb_build_object('Location', '/v1/orders/' || s.id)::text, s.id::text FROM idem_step s;
-- statement: step.Line
WITH idem_step AS (INSERT INTO lines (order_id, sku, qty) VALUES ($1, $2, $3) RETURNING sku, qty)
SELECT (SELECT row_to_json(o)::text FROM (SELECT s.sku, s.qty) o) FROM idem_step s;
-- statement: step.All
WITH idem_step AS (SELECT sku FROM lines ORDER BY sku)
SELECT to_json(s.sku)::text FROM idem_step s;
-- statement: step.Touch
UPDATE orders SET touched = true WHERE id = $1;
`,
		Steps: []Step{
			{Name: "Order", Section: "step.Order", Args: fieldArgs(1), Statuses: []int{202}, Writes: []string{"public.orders"}, Insert: true,
				Results: Results{Row: true, JSON: 1, Statuses: 1, Headers: true, Text: 1}},
			{Name: "Line", Section: "step.Line", Each: 1, Writes: []string{"public.lines"}, Insert: true, Results: Results{Row: true},
				Args:   []Arg{{From: ArgStep, Step: 0, Column: 0}, {From: ArgItem, Item: 0}, {From: ArgItem, Item: 1}},
				Errors: []ErrorRule{{Constraint: "lines_qty_check", Problem: Problem{422, "bad_quantity", ""}}}},
			{Name: "All", Section: "step.All", Many: true, Results: Results{JSON: 1}},
			{Name: "Touch", Section: "step.Touch", Exec: true, Args: []Arg{{From: ArgStep, Step: 0, Column: 0}},
				Empty: Empty{Problem: &Problem{404, "gone", ""}}},
		},
		Answer: Answer{Kind: "object", Members: []Member{
			{Name: "order", Value: Answer{Kind: "step", Step: 0, One: "it"}},
			{Name: "id", Value: Answer{Kind: "column", Step: 0}},
			{Name: "lines", Value: Answer{Kind: "step", Step: 1}},
			{Name: "skus", Value: Answer{Kind: "column", Step: 2, Many: "items"}},
			{Name: "nothing", Value: Answer{}},
		}},
	}
}

const orderTables = `
CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id text NOT NULL, touched boolean);
CREATE TABLE lines (order_id bigint REFERENCES orders DEFERRABLE INITIALLY DEFERRED, sku text, qty int CONSTRAINT lines_qty_check CHECK (qty > 0));
`

func TestStepsComposeOneAnswer(t *testing.T) {
	t.Parallel()
	s := newShop(t, placeOrder())
	s.exec(t, orderTables)
	first := s.post("PlaceOrder", "k", `{"lines": [{"sku": "b", "qty": 2}, {"sku": "a", "qty": 1}]}`)
	wantStatus(t, first, 201)
	want := `{"order":{"it":{"id":1,"tenant_id":"t1"}},"id":1,"lines":[{"sku":"b","qty":2},{"sku":"a","qty":1}],"skus":{"items":["a","b"]},"nothing":null}`
	if first.Body.String() != want || first.Header().Get("Location") != "/v1/orders/1" {
		t.Errorf("%s\n%v", first.Body, first.Header())
	}
	sameAnswer(t, first, s.post("PlaceOrder", "k", `{"lines": [{"qty": 2, "sku": "b"}, {"sku": "a", "qty": 1}]}`))
	if n := s.count(t, "SELECT count(*) FROM orders WHERE touched"); n != 1 {
		t.Errorf("%d orders", n)
	}
	empty := s.post("PlaceOrder", "", `{"lines": []}`, "X-Tenant", "big")
	wantStatus(t, empty, 202) // @status; without a key
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 1 {
		t.Errorf("%d records", n)
	}
}

func TestStepsAreUndoneTogether(t *testing.T) {
	t.Parallel()
	s := newShop(t, placeOrder())
	s.exec(t, orderTables)
	bad := `{"lines": [{"sku": "b", "qty": 2}, {"sku": "a", "qty": 0}]}`
	first := s.post("PlaceOrder", "k", bad)
	wantCode(t, first, 422, "bad_quantity")
	sameAnswer(t, first, s.post("PlaceOrder", "k", bad))
	s.exec(t, "CREATE RULE no AS ON UPDATE TO orders DO INSTEAD NOTHING")
	wantCode(t, s.post("PlaceOrder", "k2", `{"lines": []}`), 404, "gone") // @empty of a command
	if n := s.count(t, "SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM lines)"); n != 0 {
		t.Errorf("%d rows", n)
	}
	// A deferred constraint fails with the commit.
	s.exec(t, "DROP RULE no ON orders; CREATE FUNCTION orphan() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.order_id := 0; RETURN NEW; END $$; CREATE TRIGGER orphan BEFORE INSERT ON lines FOR EACH ROW EXECUTE FUNCTION orphan()")
	s.pool.Reset() // a plan of nothing depends on nothing: it does not notice
	wantCode(t, s.post("PlaceOrder", "k3", `{"lines": [{"sku": "b", "qty": 2}]}`), 422, "reference-not-found")
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 3 {
		t.Errorf("%d records", n)
	}
}

func TestAnEmptyStepMayBeTheAnswer(t *testing.T) {
	t.Parallel()
	op := placeOrder()
	op.SQL += "\n-- statement: step.None\nSELECT NULL::text WHERE false;\n"
	op.Steps[2] = Step{Name: "None", Section: "step.None", Results: Results{Row: true}, Empty: Empty{Fine: 204}}
	s := newShop(t, op)
	s.exec(t, orderTables)
	first := s.post("PlaceOrder", "k", `{"lines": []}`)
	wantStatus(t, first, 204)
	if first.Body.Len() != 0 || first.Header().Get("Content-Type") != "" {
		t.Errorf("%s %v", first.Body, first.Header())
	}
	sameAnswer(t, first, s.post("PlaceOrder", "k", `{"lines": []}`))
	if n := s.count(t, "SELECT count(*) FROM orders"); n != 1 {
		t.Errorf("%d orders: the writes stay", n)
	}
}

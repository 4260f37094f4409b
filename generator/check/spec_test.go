package check

import (
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

const orderQueries = `-- name: InsertPayment :one
INSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, @order_id, @amount, 'EUR')
RETURNING id, order_id, amount;

-- name: InsertLine :one
INSERT INTO lines (payment_id, sku, qty, label) VALUES (@payment_id, @sku, @qty, @label) RETURNING sku, qty;

-- name: Touch :exec
UPDATE payments SET note = 'x' WHERE id = @id;
`

// endpoint is a spec with these steps.
func endpoint(body string) service {
	return service{queries: orderQueries, specs: "endpoints:\n  PlaceOrder:\n    doc: Place an order. All of it.\n    http: POST /v1/orders\n" + body}
}

const orderSteps = `    steps:
      - query: InsertPayment
      - query: InsertLine
        each: body.lines
        bind: {payment_id: InsertPayment.id, sku: item.sku, qty: item.qty, label: item.label}
`

func TestEndpoint(t *testing.T) {
	op := endpoint(orderSteps + "    response: {order: InsertPayment, lines: InsertLine, meta: {id: InsertPayment.id}}\n").operation(t)
	if op.Name != "PlaceOrder" || !op.Spec || op.Status != 201 || op.Summary != "Place an order." {
		t.Errorf("got %+v", op)
	}
	lines := inputNamed(t, op, "body.lines")
	if lines.Type.Kind != model.KindRecord || !lines.Type.List || !lines.Required || len(lines.Type.Members) != 3 {
		t.Fatalf("got %+v", lines)
	}
	qty := lines.Type.Members[1]
	if qty.Name != "qty" || qty.Type.Kind != model.KindInt4 || !qty.Required || len(qty.Type.Checks) != 2 {
		t.Errorf("got %+v", qty)
	}
	if label := lines.Type.Members[2]; label.Required || !label.Type.Nullable {
		t.Errorf("got %+v", label)
	}
	step := op.Steps[1]
	want := []model.Source{{Kind: model.SourceStep, Step: "InsertPayment", Column: "id"},
		{Kind: model.SourceItem, Input: lines, Member: "sku"}, {Kind: model.SourceItem, Input: lines, Member: "qty"}, {Kind: model.SourceItem, Input: lines, Member: "label"}}
	if step.Each != lines || !slices.Equal(step.Args, want) {
		t.Errorf("got %+v", step.Args)
	}
	if r := op.Response; r.Kind != model.ResponseObject || len(r.Members) != 3 || r.Members[1].Value.Step != "InsertLine" ||
		r.Members[2].Value.Members[0].Value.Kind != model.ResponseColumn {
		t.Errorf("got %+v", r)
	}
}

func TestEndpointWithoutResponse(t *testing.T) {
	if op := endpoint(orderSteps).operation(t); op.Response.Kind != model.ResponseNone || op.Status != 204 {
		t.Errorf("got %+v %d", op.Response, op.Status)
	}
	one := endpoint("    steps:\n      - query: InsertPayment\n").operation(t)
	if one.Response.Kind != model.ResponseStep || one.Status != 201 {
		t.Errorf("the one step is the response: %+v %d", one.Response, one.Status)
	}
}

func TestNearestWordsWin(t *testing.T) {
	s := endpoint("    steps:\n      - query: Touch\n        empty: 410 gone\n")
	s.queries = words(s.queries, "") // the query's own @empty follows
	if got := s.operation(t).Steps[0].Empty.Problem; got.Status != 410 || got.Code != "gone" {
		t.Errorf("got %+v", got)
	}
	own := service{queries: words("-- name: Capture :one\nUPDATE payments SET order_id = @order_id WHERE tenant_id = @tenant_id RETURNING id, note, (amount > 1) AS a, (amount > 2) AS b;\n",
		"-- @intent payments (order_id)", "-- @require a 402", "-- @status a 202", "-- @omit note", "-- @error payments_pkey 409"),
		specs: "endpoints:\n  Op:\n    http: POST /x\n    steps:\n      - query: Capture\n        intent: payments (tenant_id, order_id)\n" +
			"        require: b 422\n        status: a 203\n        omit: [id]\n        error: p0001 409\n"}
	step := own.operation(t).Steps[0]
	if len(step.Intent.Columns) != 2 || step.Requires[0].Column != "b" || step.Statuses[0].Status != 203 || step.Omit[0] != "id" || step.Errors[0].SQLState != "P0001" {
		t.Errorf("got %+v", step)
	}
	errors := endpoint("    error: [payments_amount_check 409 bad_amount]\n" + orderSteps).operation(t)
	if got := errors.Steps[0].Errors; len(got) != 1 || got[0].Problem.Code != "bad_amount" {
		t.Errorf("the endpoint's rule belongs to the step that can meet it: %+v", got)
	}
	for _, e := range errors.Steps[1].Errors {
		if e.Constraint == "payments_amount_check" {
			t.Error("InsertLine can't violate it")
		}
	}
}

func TestEndpointErrors(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       want
	}{
		{"unknown query", "    steps:\n      - query: InsertPaymnt\n", want{diag.BindUnknown, "no query is named InsertPaymnt", "did you mean InsertPayment?", "InsertPaymnt"}},
		{"later step", "    steps:\n      - query: Touch\n        bind: {id: InsertPayment.id}\n      - query: InsertPayment\n",
			want{diag.StepOrder, "step InsertPayment has not run yet", "above", "InsertPayment.id"}},
		{"unknown step", "    steps:\n      - query: Touch\n        bind: {id: Insert.id}\n", want{diag.StepOrder, "no step is named Insert", "", "Insert.id"}},
		{"unknown column", "    steps:\n      - query: InsertPayment\n      - query: Touch\n        bind: {id: InsertPayment.idd}\n",
			want{diag.ColumnUnknown, `step InsertPayment returns no column "idd"`, "did you mean id?", "InsertPayment.idd"}},
		{"type of a column", "    steps:\n      - query: InsertPayment\n      - query: Touch\n        bind: {id: InsertPayment.order_id}\n",
			want{diag.BindType, "but @id is bigint", "cast", "InsertPayment.order_id"}},
		{"column of a list", orderSteps + "      - query: InsertPayment\n        as: Second\n        bind: {order_id: InsertLine.sku}\n",
			want{diag.StepOrder, "step InsertLine does not return exactly one row", ":one", "InsertLine.sku"}},
		{"item without each", "    steps:\n      - query: Touch\n        bind: {id: item.id}\n", want{diag.StepOrder, "stands in a step without each:", "each: body.NAME", "item.id"}},
		{"item in depth", "    steps:\n      - query: Touch\n        each: body.list\n        bind: {id: item.a.b}\n", want{diag.BindUnknown, "item.a.b is not a member of an element", "item.NAME", "item.a.b"}},
		{"default of an item", "    steps:\n      - query: Touch\n        each: body.list\n        bind: {id: {source: item.id, default: 1}}\n",
			want{diag.BindType, "item.id can't have a default", "remove", "1"}},
		{"two types of an item", "    steps:\n      - query: InsertLine\n        each: body.list\n        bind: {payment_id: item.a, sku: item.a, qty: item.q, label: item.l}\n",
			want{diag.BindType, "item.a is text here and another type elsewhere", "cast", "item.a"}},
		{"same name", "    steps:\n      - query: Touch\n      - query: Touch\n", want{diag.NameCollision, "two steps are named Touch", "as:", ""}},
		{"response", "    steps:\n      - query: InsertPayment\n    response: InsertPaymet\n", want{diag.StepOrder, "the response names the step InsertPaymet", "did you mean InsertPayment?", "InsertPaymet"}},
		{"response of nothing", "    steps:\n      - query: Touch\n    response: Touch\n", want{diag.ColumnUnknown, "step Touch is :exec and returns nothing", "RETURNING", "Touch"}},
		{"column of the response", "    steps:\n      - query: InsertPayment\n    response: {a: InsertPayment.idd}\n", want{diag.ColumnUnknown, "returns no column idd", "did you mean id?", "InsertPayment.idd"}},
		{"column of many rows", orderSteps + "    response: {a: InsertLine.sku}\n", want{diag.ColumnUnknown, "returns several rows", "whole step", "InsertLine.sku"}},
		{"header of another step", orderSteps + "    response: InsertPayment\n    header: {X-Line: \"{InsertLine.sku}\"}\n", want{diag.HeaderForm, "InsertLine does not return exactly one row", ":one", "X-Line"}},
	} {
		t.Run(c.name, func(t *testing.T) { endpoint(c.body).refuses(t, c.want) })
	}
}

func TestHeaderOfAnEndpoint(t *testing.T) {
	op := endpoint(orderSteps + "    header: {Location: \"/v1/orders/{InsertPayment.id}\"}\n").operation(t)
	if h := op.Headers[0]; h.Step != "InsertPayment" || !slices.Equal(h.Parts, []model.Part{{Text: "/v1/orders/"}, {Name: "id"}}) {
		t.Errorf("got %+v", h)
	}
}

func TestQueriesOfSeveralPackages(t *testing.T) {
	touch := "-- name: Touch :exec\nUPDATE payments SET note = 'y' WHERE id = @id;\n"
	s := endpoint("    steps:\n      - query: more.Touch\n")
	s.more = touch
	if q := s.operation(t).Steps[0].Query; q.Package.Name != "more" || q.File != "more/q.sql" {
		t.Errorf("got %+v", q)
	}
	s = endpoint("    steps:\n      - query: Touch\n")
	s.more = touch
	s.refuses(t, want{diag.SpecForm, "several queries are named Touch", "db.Touch, more.Touch", "Touch"})
}

package check

import (
	"reflect"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

func TestRulesOfColumns(t *testing.T) {
	op := service{queries: createPayment}.operation(t)
	amount := inputNamed(t, op, "body.amount")
	if want := []model.Check{{Op: model.CheckExclusiveMin, Value: "0", Name: "payments_amount_check"}}; !reflect.DeepEqual(amount.Type.Checks, want) {
		t.Errorf("amount: %+v", amount.Type.Checks)
	}
	if in := inputNamed(t, op, "body.order_id"); in.Type.Length != 64 {
		t.Errorf("order_id: %+v", in.Type)
	}
	filter := service{queries: "-- name: Op :many\n-- @http GET /x\nSELECT id FROM payments WHERE amount = @amount;\n"}.operation(t)
	if in := inputNamed(t, filter, "query.amount"); len(in.Type.Checks) != 0 {
		t.Errorf("a value that is only compared obeys no CHECK: %+v", in.Type.Checks)
	}
	cast := service{queries: "-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET amount = (@amount::text)::bigint;\n"}.operation(t)
	if in := inputNamed(t, cast, "body.amount"); in.Type.Kind != model.KindText || len(in.Type.Checks) != 0 {
		t.Errorf("rules of a number can't judge a text: %+v", in.Type)
	}
	enum := service{queries: "-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET status = @status;\n"}.operation(t)
	if in := inputNamed(t, enum, "body.status"); len(in.Type.Enum) != 2 {
		t.Errorf("status: %+v", in.Type)
	}
}

func TestWhatMayBeLeftOut(t *testing.T) {
	q := words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note, currency = @currency, amount = sqlc.narg('amount'), order_id = coalesce(sqlc.narg('order_id'), order_id);\n",
		"-- @bind currency body.currency default=EUR")
	op := service{queries: q}.operation(t)
	if in := inputNamed(t, op, "body.note"); in.Required || !in.Nullable {
		t.Errorf("a nullable column: %+v", in)
	}
	if in := inputNamed(t, op, "body.currency"); in.Required || in.Default == nil || *in.Default != "EUR" || in.Nullable {
		t.Errorf("a default: %+v", in)
	}
	if in := inputNamed(t, op, "body.amount"); !in.Required || in.Nullable {
		t.Errorf("null can't be stored in a NOT NULL column: %+v", in)
	}
	if in := inputNamed(t, op, "body.order_id"); in.Required || !in.Nullable {
		t.Errorf("coalesce takes null: %+v", in)
	}
	def := service{queries: "-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET status = @status;\n"}.operation(t)
	if in := inputNamed(t, def, "body.status"); !in.Required {
		t.Error("a column's default makes no member optional")
	}
}

func TestLimitsOfABind(t *testing.T) {
	q := "-- name: Op :exec\n-- @http POST /x\n-- @bind amount body.amount min=5 max=0010\nUPDATE payments SET amount = @amount;\n"
	in := inputNamed(t, service{queries: q}.operation(t), "body.amount")
	want := []model.Check{{Op: model.CheckExclusiveMin, Value: "0", Name: "payments_amount_check"},
		{Op: model.CheckMin, Value: "5"}, {Op: model.CheckMax, Value: "10"}}
	if !reflect.DeepEqual(in.Type.Checks, want) {
		t.Errorf("got %+v", in.Type.Checks)
	}
}

func TestOneMemberForTwoParameters(t *testing.T) {
	q := words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note, order_id = @order_id;\n",
		"-- @bind note body.v", "-- @bind order_id body.v")
	op := service{queries: q}.operation(t)
	in := inputNamed(t, op, "body.v")
	if len(op.Inputs) != 1 || in.Type.Length != 64 || !in.Required || in.Nullable {
		t.Errorf("the rules of both hold: %+v", in)
	}
	if op.Steps[0].Args[0].Input != op.Steps[0].Args[1].Input {
		t.Error("both arguments are the same input")
	}
}

const placeOrder = `-- name: AddLines :many
-- @http POST /v1/payments/{payment_id}/lines
INSERT INTO lines (payment_id, sku, qty, label)
SELECT @payment_id, x.sku, x.qty, x.label FROM jsonb_to_recordset(@items::jsonb) AS x(sku text, qty int, label text)
RETURNING sku, qty;
`

func TestLineItems(t *testing.T) {
	op := service{queries: placeOrder}.operation(t)
	items := inputNamed(t, op, "body.items")
	if items.Type.Kind != model.KindRecord || !items.Type.List || len(items.Type.Members) != 3 || !items.Required {
		t.Fatalf("got %+v", items)
	}
	qty := items.Type.Members[1]
	if qty.Name != "qty" || !qty.Required || qty.Type.Kind != model.KindInt4 || qty.Type.Nullable || qty.Type.GoType.Expr != "int32" || len(qty.Type.Checks) != 2 {
		t.Errorf("qty: %+v", qty)
	}
	if label := items.Type.Members[2]; label.Required || !label.Type.Nullable || label.Type.GoType.Expr != "*string" {
		t.Errorf("label: %+v", label)
	}
	var rules []string
	for _, e := range op.Steps[0].Errors {
		rules = append(rules, e.Constraint)
	}
	if !reflect.DeepEqual(rules, []string{"lines_qty_check"}) {
		t.Errorf("the CHECK that the items feed: %v", rules)
	}
}

func TestExamples(t *testing.T) {
	example := func(json string) string { return words(createPayment, "-- @example "+json) }
	op := service{queries: example(`{"order_id": "o1", "amount": 5,  "currency": "EUR"}`)}.operation(t)
	if op.Example != `{"order_id":"o1","amount":5,"currency":"EUR"}` {
		t.Errorf("got %s", op.Example)
	}
	for json, message := range map[string]string{
		`{"order_id": "o1", "amount": 5}`:                                 "/currency is missing",
		`{"order_id": "o1", "amount": 5, "currency": "EUR", "note": "x"}`: "/note is not a member",
		`{"order_id": "o1", "amount": true, "currency": "EUR"}`:           "/amount must be a number",
		`{"order_id": null, "amount": 5, "currency": "EUR"}`:              "/order_id can't be null",
		`[]`: "it must be an object",
	} {
		service{queries: example(json)}.refuses(t, want{diag.ExampleForm, message, "valid request", json[:1]})
	}
	nested := func(json string) service {
		return service{queries: words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET order_id = @name, meta = @doc::jsonb;\n",
			"-- @bind name body.customer.name", "-- @example "+json)}
	}
	nested(`{"customer": {"name": "x"}, "doc": [1]}`).ok(t)
	nested(`{"customer": {}, "doc": {}}`).refuses(t, want{diag.ExampleForm, "/customer/name is missing", "", ""})
	nested(`{"customer": 1, "doc": {}}`).refuses(t, want{diag.ExampleForm, "/customer must be an object", "", ""})
	service{queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind meta body\n-- @example [1]\nUPDATE payments SET meta = @meta;\n"}.ok(t)
	lines := func(json string) service { return service{queries: words(placeOrder, "-- @example "+json)} }
	lines(`{"items": [{"sku": "a", "qty": 1}]}`).ok(t)
	lines(`{"items": [{"sku": "a", "qty": 1}, {"sku": "b"}]}`).refuses(t, want{diag.ExampleForm, "/items/1/qty is missing", "", ""})
	lines(`{"items": {}}`).refuses(t, want{diag.ExampleForm, "/items must be a list", "", ""})
	service{queries: "-- name: Op :exec\n-- @http DELETE /x/{id}\n-- @example {}\nDELETE FROM payments WHERE id = @id;\n"}.
		refuses(t, want{diag.ExampleForm, "takes no body", "remove", "{}"})
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		kind     model.Kind
		in, want string
	}{
		{model.KindBool, "T", "true"}, {model.KindInt2, "007", "7"}, {model.KindInt8, "-9223372036854775808", "-9223372036854775808"},
		{model.KindNumeric, "+1.50", "1.50"}, {model.KindUUID, "0190A0B0-0000-7000-8000-00000000000F", "0190a0b0-0000-7000-8000-00000000000f"},
		{model.KindTimestamptz, "2024-01-02T03:04:05+02:00", "2024-01-02T01:04:05.000000Z"}, {model.KindDate, "2024-02-29", "2024-02-29"},
		{model.KindInterval, "P1DT2H", "P1DT2H"}, {model.KindBytea, "AP8=", `\x00ff`}, {model.KindJSON, "[1]", "[1]"}, {model.KindText, "x", "x"},
	} {
		if got, err := canonical(model.Type{Kind: c.kind}, c.in); err != nil || got != c.want {
			t.Errorf("%s %s: %q %v, want %q", c.kind, c.in, got, err, c.want)
		}
	}
	for _, c := range []struct {
		typ model.Type
		in  string
	}{
		{model.Type{Kind: model.KindBool}, "yes"}, {model.Type{Kind: model.KindInt2}, "40000"}, {model.Type{Kind: model.KindInt4}, "1.5"},
		{model.Type{Kind: model.KindNumeric}, "1,5"}, {model.Type{Kind: model.KindUUID}, "x"}, {model.Type{Kind: model.KindDate}, "2023-02-29"},
		{model.Type{Kind: model.KindTimestamptz}, "2024-01-02"}, {model.Type{Kind: model.KindInterval}, "1 day"}, {model.Type{Kind: model.KindBytea}, "?"},
		{model.Type{Kind: model.KindJSON}, "{"}, {model.Type{Kind: model.KindText, Length: 2}, "abc"}, {model.Type{Kind: model.KindText, Array: true}, "x"},
		{model.Type{Kind: model.KindRecord}, "{}"},
	} {
		if got, err := canonical(c.typ, c.in); err == nil {
			t.Errorf("%s %q is accepted as %q", describe(c.typ), c.in, got)
		}
	}
}

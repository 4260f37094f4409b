package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

const capture = `-- name: Capture :one
-- @http POST /v1/payments/{id}/capture 200
UPDATE payments SET status = 'captured', amount = amount - @fee WHERE id = @id
RETURNING id, status, (amount > 5) AS enough, (amount > 9) AS high, (amount < 99) AS low, note::text AS why;
`

func TestRules(t *testing.T) {
	op := service{queries: words(capture, `-- @require enough 402 insufficient_funds "not enough"`, "-- @status high 202",
		"-- @require low 422", "-- @empty 404 no_such_payment", "-- @omit why")}.operation(t)
	step := op.Steps[0]
	if want := (model.Require{Column: "enough", Problem: model.Problem{Status: 402, Code: "insufficient_funds", Title: "not enough"}}); step.Requires[0] != want {
		t.Errorf("got %+v", step.Requires[0])
	}
	if want := (model.Problem{Status: 422, Code: "low", Title: "Low"}); step.Requires[1].Problem != want {
		t.Errorf("the column's name is the code: %+v", step.Requires[1])
	}
	if step.Statuses[0] != (model.StatusRule{Column: "high", Status: 202}) {
		t.Errorf("got %+v", step.Statuses)
	}
	if step.Empty.Fine || step.Empty.Problem.Code != "no_such_payment" || step.Empty.Problem.Title != "No such payment" {
		t.Errorf("got %+v", step.Empty)
	}
	if !slices.Equal(step.Omit, []string{"why"}) {
		t.Errorf("got %v", step.Omit)
	}
}

func TestEmpty(t *testing.T) {
	for method, status := range map[string]int{"POST": 409, "PUT": 404, "PATCH": 404, "DELETE": 404} {
		q := words("-- name: Op :exec\nDELETE FROM payments WHERE id = @id;\n", "-- @http "+method+" /x/{id}")
		if got := (service{queries: q}).operation(t).Steps[0].Empty; got.Status != status || got.Fine {
			t.Errorf("%s: %+v", method, got)
		}
	}
	fine := service{queries: words("-- name: Op :exec\n-- @http DELETE /x/{id}\nDELETE FROM payments WHERE id = @id;\n", "-- @empty 204")}.operation(t)
	if got := fine.Steps[0].Empty; !got.Fine || got.Status != 204 {
		t.Errorf("got %+v", got)
	}
	many := "-- name: Op :many\n-- @http GET /x\nSELECT id FROM payments;\n"
	if got := (service{queries: many}).operation(t).Steps[0].Empty; !got.Fine || got.Status != 200 {
		t.Errorf("an empty list is an answer: %+v", got)
	}
	service{queries: words(many, "-- @empty 404")}.refuses(t, want{diag.ProblemForm, "@empty does nothing for :many", ":one", "404"})
}

func TestRuleErrors(t *testing.T) {
	service{queries: words(capture, "-- @require enuogh 402")}.refuses(t, want{diag.ColumnUnknown, "@require names the column enuogh", "did you mean enough?", "enuogh"})
	service{queries: words(capture, "-- @status id 402")}.refuses(t, want{diag.ColumnUnknown, "@status needs a boolean, but id is bigint", "AS id", "id"})
	service{queries: words(capture, "-- @omit sttus")}.refuses(t, want{diag.ColumnUnknown, "@omit names the column sttus", "did you mean status?", "sttus"})
	service{queries: words("-- name: Op :exec\n-- @http DELETE /x\nDELETE FROM payments;\n", "-- @require gone 409")}.
		refuses(t, want{diag.ColumnUnknown, "@require names the column gone", "make the query :one", "gone"})
}

func TestErrorRules(t *testing.T) {
	op := service{queries: createPayment}.operation(t)
	if got := op.Steps[0].Errors; len(got) != 1 || got[0].Constraint != "payments_amount_check" || got[0].Problem.Status != 422 ||
		got[0].Problem.Code != "payments_amount_check" || got[0].Problem.Title != "Payments amount check" {
		t.Errorf("the CHECK of a column that the request feeds: %+v", got)
	}
	op = service{queries: words(createPayment, `-- @error payments_amount_check 409 amount_not_positive`, "-- @error p0001 409 refused")}.operation(t)
	if got := op.Steps[0].Errors; len(got) != 2 || got[0].Problem.Code != "amount_not_positive" || got[1].SQLState != "P0001" {
		t.Errorf("got %+v", got)
	}
	op = service{queries: words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET amount = @amount;\n", "-- @bind amount '5'")}.operation(t)
	if got := op.Steps[0].Errors; len(got) != 0 {
		t.Errorf("the request does not feed amount: %+v", got)
	}
	if got := (service{queries: capture}).operation(t).Steps[0].Errors; len(got) != 1 || got[0].Constraint != "payments_amount_check" {
		t.Errorf("a computed value feeds the CHECK too: %+v", got)
	}
	service{queries: words("-- name: Op :exec\n-- @http DELETE /x/{id}\nDELETE FROM payments WHERE id = @id;\n", "-- @error lines_payment_id_fkey 409 in_use")}.ok(t)
	domain := payments + "CREATE DOMAIN code AS text CONSTRAINT code_form CHECK (VALUE ~ '^[A-Z]+$'); CREATE TABLE codes (code code NOT NULL);"
	service{migrations: domain, queries: "-- name: Op :exec\n-- @http POST /x\n-- @error code_form 422\nINSERT INTO codes (code) VALUES (@code);\n"}.ok(t)
	service{queries: words(createPayment, "-- @error payments_amuont_check 409")}.
		refuses(t, want{diag.CatalogUnknown, "no migration makes a constraint", "did you mean payments_amount_check?", "payments_amuont_check"})
	service{queries: words(createPayment, "-- @error lines_qty_check 409")}.
		refuses(t, want{diag.ConstraintUnused, "CreatePayment can't violate lines_qty_check", "writes lines", "lines_qty_check"})
	for _, code := range []string{"40001", "25P04"} {
		service{queries: words(createPayment, "-- @error "+code+" 409")}.
			refuses(t, want{diag.ProblemForm, "SQLSTATE " + code + " is a passing failure", "503", code})
	}
}

// What triggers, functions and cascades write may violate the constraints of
// any table that they reach.
func TestCase_views_3_ErrorsOfOtherTables(t *testing.T) {
	base := payments + `
CREATE TABLE balances (id bigint PRIMARY KEY, n int CONSTRAINT n_check CHECK (n > 0));
CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE balances SET n = n - 1; RETURN NEW; END $$;
CREATE FUNCTION charge(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN UPDATE balances SET n = n - 1; RETURN $1; END $$;
`
	rule := "-- @error n_check 409"
	charged := strings.Replace(createPayment, "@order_id,", "charge(@order_id::text),", 1)
	throughView := strings.Replace(createPayment, "INTO payments", "INTO v", 1)
	remove := words("-- name: Remove :exec\n-- @http DELETE /p/{id}\nDELETE FROM payments WHERE tenant_id = @tenant_id AND id = @id;\n", "-- @error k_check 409")
	for _, s := range []service{
		{migrations: base + "CREATE TRIGGER a AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION take();", queries: words(createPayment, rule)},
		{migrations: base, queries: words(charged, rule)},
		{migrations: base + "ALTER TABLE payments ALTER COLUMN note SET DEFAULT charge('x');", queries: words(createPayment, rule)},
		{migrations: base + "CREATE VIEW v AS SELECT * FROM payments;", queries: words(throughView, "-- @error payments_amount_check 409")},
		{migrations: base + "CREATE TABLE kids (id bigint REFERENCES payments (id) ON DELETE SET NULL, CONSTRAINT k_check CHECK (id IS NOT NULL));", queries: remove},
	} {
		s.ok(t)
	}
	service{migrations: base, queries: words(createPayment, rule)}.
		refuses(t, want{diag.ConstraintUnused, "CreatePayment can't violate n_check", "writes balances", "n_check"})
	service{migrations: base + "CREATE TABLE kids (id bigint, CONSTRAINT k_check CHECK (id IS NOT NULL));", queries: remove}.
		refuses(t, want{diag.ConstraintUnused, "Remove can't violate k_check", "writes kids", "k_check"})
}

func TestHeaders(t *testing.T) {
	op := service{queries: words(createPayment, `-- @header Location "/v1/payments/{id}"`, `-- @header X-Order "{order_id}"`)}.operation(t)
	if h := op.Headers[0]; h.Name != "Location" || !h.URL || h.Step != "CreatePayment" ||
		!slices.Equal(h.Parts, []model.Part{{Text: "/v1/payments/"}, {Name: "id"}}) {
		t.Errorf("got %+v", h)
	}
	if h := op.Headers[1]; h.URL || !slices.Equal(h.Parts, []model.Part{{Name: "order_id"}}) {
		t.Errorf("got %+v", h)
	}
	service{queries: words(createPayment, `-- @header Location "https://api.example.com/v1/payments/{id}"`)}.ok(t)
	for _, template := range []string{"{order_id}", "//{order_id}", "https://{order_id}/x", "https://api.example{order_id}", "x/{id}"} {
		service{queries: words(createPayment, `-- @header Location "`+template+`"`)}.
			refuses(t, want{diag.HeaderForm, "lets a value choose the host", "literal", "Location"})
	}
	service{queries: words(createPayment, `-- @header Location "/x/{ordre_id}"`)}.
		refuses(t, want{diag.ColumnUnknown, "names the column ordre_id", "did you mean order_id?", "Location"})
	service{queries: words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note;\n", `-- @header X-Note "{note}"`)}.
		refuses(t, want{diag.HeaderForm, "does not return exactly one row", ":one", "X-Note"})
	service{queries: "-- name: Op :one\n-- @http POST /x\n-- @header X-Meta \"{meta}\"\nUPDATE payments SET note = @note RETURNING id, meta;\n"}.
		refuses(t, want{diag.HeaderForm, "meta is jsonb, which a header can't hold", "text", "X-Meta"})
}

func TestResponses(t *testing.T) {
	if op := (service{queries: "-- name: Op :one\n-- @http POST /x\n-- @omit id\nUPDATE payments SET note = @note RETURNING id;\n"}).operation(t); op.Response.Kind != model.ResponseNone || op.Status != 204 {
		t.Errorf("nothing to show: %+v %d", op.Response, op.Status)
	}
	dotted := service{queries: "-- name: Op :one\n-- @http GET /x\nSELECT id, note::text AS \"customer.name\", sqlc.embed(lines) FROM payments LIMIT 1;\n"}.operation(t)
	columns := dotted.Steps[0].Query.Columns
	if columns[1].GoName != "Customer.Name" || len(columns[2].Embed) != 4 || columns[2].Embed[3].GoName != "Label" || !columns[2].Embed[3].Type.Nullable {
		t.Errorf("got %+v", columns)
	}
	service{queries: "-- name: Op :one\n-- @http GET /x\nSELECT id, amount AS id FROM payments LIMIT 1;\n"}.
		refuses(t, want{diag.NameCollision, "returns two columns named id", "AS", "-- name"})
	service{queries: "-- name: Op :one\n-- @http GET /x\nSELECT id AS a, amount AS \"a.b\" FROM payments LIMIT 1;\n"}.
		refuses(t, want{diag.NameCollision, "returns a, so a.b can't be in it", "alias", "-- name"})
}

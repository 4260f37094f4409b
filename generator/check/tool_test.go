package check

import (
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

const noted = `-- name: Note :one
-- @tool note_payment "Note something about a payment."
UPDATE payments SET note = @note WHERE tenant_id = @tenant_id AND id = @id RETURNING id;
`

const looked = `-- name: Find :one
-- Find a payment.
-- @tool find_payment
SELECT id FROM payments WHERE tenant_id = @tenant_id AND id = @id;
`

func TestToolAlone(t *testing.T) {
	op := service{queries: noted}.operation(t)
	if op.Tool == nil || op.Tool.Name != "note_payment" || op.Tool.Description != "Note something about a payment." {
		t.Fatalf("%+v", op.Tool)
	}
	if !op.OnlyTool() || op.Path != "note_payment" || op.Key.From != "header" || !op.Key.Required || !op.Tool.KeyArgument {
		t.Errorf("%s %s, key %+v, %+v", op.Method, op.Path, op.Key, op.Tool)
	}
	read := service{queries: looked}.operation(t)
	if read.Key.Protects() || read.Tool.KeyArgument || read.Tool.Description != "Find a payment." || read.Steps[0].Empty.Status != 404 {
		t.Errorf("a tool that reads: key %+v, %+v, empty %+v", read.Key, read.Tool, read.Steps[0].Empty)
	}
}

// Hints are derived: what is not seen to add only may destroy.
func TestToolHints(t *testing.T) {
	insert := "INSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, @order_id, @amount, @currency)"
	for sql, want := range map[string][2]bool{ // reads only, destroys
		"SELECT id FROM payments WHERE tenant_id = @tenant_id AND id = @id":            {true, false},
		"SELECT id FROM payments WHERE tenant_id = @tenant_id AND id = @id FOR UPDATE": {true, false},
		insert + " RETURNING id": {false, false},
		"WITH made AS (" + insert + " RETURNING id) " + insert + " RETURNING id":                                                 {false, false},
		insert + " ON CONFLICT (id) DO UPDATE SET note = 'again' RETURNING id":                                                   {false, true},
		"DELETE FROM payments WHERE tenant_id = @tenant_id AND id = @id RETURNING id":                                            {false, true},
		"WITH gone AS (DELETE FROM payments WHERE tenant_id = @tenant_id AND id = @id RETURNING id) " + insert + " RETURNING id": {false, true},
		"WITH old AS (UPDATE payments SET note = 'x' WHERE tenant_id = @tenant_id RETURNING id) " + insert + " RETURNING id":     {false, true},
	} {
		op := service{queries: "-- name: Op :one\n-- @tool op \"It does.\"\n" + sql + ";\n"}.operation(t)
		if got := [2]bool{op.ReadOnly(), op.Tool.Destructive}; got != want {
			t.Errorf("%s: reads only, destroys %v, want %v", sql, got, want)
		}
	}
}

func TestToolsThatCantBe(t *testing.T) {
	for text, code := range map[string]diag.Code{
		words(noted, "-- @key none"): diag.KeyRule,
		words(noted, "-- @async"):    diag.RouteForm,
		"-- name: Op :one\n-- @tool op\nSELECT id FROM payments WHERE tenant_id = @tenant_id;\n":                                                                                                diag.AnnotationForm,
		noted + "-- name: Again :one\n-- @tool note_payment \"Again.\"\nSELECT id FROM payments WHERE tenant_id = @tenant_id;\n":                                                                diag.NameCollision,
		"-- name: Op :one\n-- @http POST /v1/{id}\n-- @tool op \"It does.\"\n-- @bind note body.id\nUPDATE payments SET note = @note WHERE tenant_id = @tenant_id AND id = @id RETURNING id;\n": diag.NameCollision,
	} {
		_, got := service{queries: text}.check(t)
		if !slices.ContainsFunc(got, func(d diag.Diagnostic) bool { return d.Code == code }) {
			t.Errorf("%s: %v, want %s", text, got, code)
		}
	}
}

// Beside @http a tool changes nothing of the route.
func TestToolBesideHTTP(t *testing.T) {
	op := service{queries: words(createPayment, `-- @tool pay "Pay."`)}.operation(t)
	if op.Tool == nil || op.OnlyTool() || op.Method != "POST" || op.Path != "/v1/payments" {
		t.Errorf("%s %s, %+v", op.Method, op.Path, op.Tool)
	}
	if other := (service{queries: createPayment}).operation(t); other.Tool != nil || other.Method == model.MethodTool {
		t.Errorf("%+v", other)
	}
}

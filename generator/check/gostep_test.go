package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// goEndpoint has a Go step in front of the INSERT.
func goEndpoint(step string) service {
	return endpoint("    steps:\n      - go: Price\n" + step + "      - query: InsertPayment\n")
}

// A function's values have the types of their sources, whichever step says them.
func TestGoStepTakesTheTypesOfItsSources(t *testing.T) {
	op := goEndpoint(`        request:
          tenant: caller.tenant_id
          order: body.order_id
          amount: {type: bigint, min: 5}
          kind: {type: public.status, optional: true}
          trace: {type: text, source: header.X-Trace, max_length: 9}
          lines: [{sku: text, qty: {type: int, max: 3}}]
          at: now
          sent: has(body.kind)
        returns: {total: numeric, kind: {type: status, optional: true}}
`).operation(t)
	step := op.Steps[0]
	if step.Go.Func != "Price" || step.Go.Whole || step.Go.Package.Import != "example.com/payments/db" {
		t.Errorf("got %+v", step.Go)
	}
	for i, kind := range []model.Kind{model.KindText, model.KindText, model.KindInt8, model.KindText, model.KindText, model.KindRecord, model.KindTimestamptz, model.KindBool} {
		p := step.Query.Params[i]
		got := p.Type
		if src := step.Args[i]; src.Kind == model.SourceInput {
			got = src.Input.Type
		}
		if got.Kind != kind {
			t.Errorf("%s is %s, want %s", p.Name, got.Kind, kind)
		}
	}
	if order := inputNamed(t, op, "body.order_id"); step.Args[1].Input != order || order.Type.Length != 64 {
		t.Errorf("order_id is not the INSERT's: %+v", order)
	}
	// The rules of both uses.
	if amount := inputNamed(t, op, "body.amount"); len(amount.Type.Checks) != 2 || !amount.Required {
		t.Errorf("got %+v", amount)
	}
	if kind := inputNamed(t, op, "body.kind"); kind.Required || len(kind.Type.Enum) != 2 || !kind.HasAsked {
		t.Errorf("got %+v", kind)
	}
	if trace := inputNamed(t, op, "header.X-Trace"); !trace.Required || len(trace.Type.Checks) != 1 {
		t.Errorf("got %+v", trace)
	}
	if lines := inputNamed(t, op, "body.lines"); !lines.Type.List || len(lines.Type.Members) != 2 || len(lines.Type.Members[1].Type.Checks) != 1 {
		t.Errorf("got %+v", lines)
	}
	if total := step.Query.Columns[0].Type; total.Kind != model.KindNumeric || total.GoType.Expr != "pgtype.Numeric" {
		t.Errorf("got %+v", total)
	}
	if kind := step.Query.Columns[1].Type; kind.GoType.Expr != "*string" || len(kind.Enum) != 2 {
		t.Errorf("got %+v", kind)
	}
}

// Without `request:` a function takes all inputs but the caller's.
func TestGoStepTakesTheOperationsInput(t *testing.T) {
	step := goEndpoint("").operation(t).Steps[0]
	var names []string
	for _, arg := range step.Args {
		names = append(names, arg.Input.Name)
	}
	if !step.Go.Whole || len(names) != 2 || names[0] != "amount" || names[1] != "order_id" {
		t.Errorf("got %v", names)
	}
}

// `bind:` of the configuration holds for values of a function as for parameters.
func TestGoStepKeepsTheScopesBind(t *testing.T) {
	step := goEndpoint("        request: {tenant_id: text}\n").operation(t).Steps[0]
	if in := step.Args[0].Input; in == nil || in.From != model.FromCaller {
		t.Errorf("got %+v", step.Args[0])
	}
	goEndpoint("        request: {tenantId: text}\n").refuses(t, want{diag.ScopeForged, "@tenantId says whose the row is, and body.tenantId says it", "caller.tenant_id", "tenantId"})
}

// The Go types of arrays have no null elements, so a request's have none either.
func TestGoStepTakesArraysWithoutNulls(t *testing.T) {
	op := goEndpoint("        request: {tags: [text], lines: [{sku: text, codes: [int]}]}\n").operation(t)
	if tags := inputNamed(t, op, "body.tags"); !tags.Type.NoNulls {
		t.Errorf("got %+v", tags.Type)
	}
	if lines := inputNamed(t, op, "body.lines"); lines.Type.NoNulls || lines.Type.Members[0].Type.NoNulls || !lines.Type.Members[1].Type.NoNulls {
		t.Errorf("got %+v", lines.Type)
	}
}

// A row that may be missing leaves null.
func TestGoStepTakesNullOfAMissingRow(t *testing.T) {
	s := endpoint(`    steps:
      - query: Find
        bind: {id: body.id}
        empty: 200
      - go: Price
        request: {amount: Find.amount}
`)
	s.queries += "\n-- name: Find :one\nSELECT amount FROM payments WHERE tenant_id = @tenant_id AND id = @id;\n"
	if got := s.operation(t).Steps[1].Query.Params[0].Type; !got.Nullable || got.GoType.Expr != "*int64" {
		t.Errorf("got %+v", got)
	}
}

// Names of `error:` on a Go step that are no constraint are codes of its own;
// constraints of any table are rules for its statements.
func TestGoStepDeclaresCodes(t *testing.T) {
	step := goEndpoint("        error: {sold_out: 409 \"Gone\", lines_qty_check: 422 bad_quantity, P0001: 409 refused}\n").operation(t).Steps[0]
	want := []model.ErrorRule{
		{Problem: model.Problem{Status: 409, Code: "sold_out", Title: "Gone"}, Declared: true},
		{Constraint: "lines_qty_check", Problem: model.Problem{Status: 422, Code: "bad_quantity", Title: "Bad quantity"}, Declared: true},
		{SQLState: "P0001", Problem: model.Problem{Status: 409, Code: "refused", Title: "Refused"}, Declared: true},
	}
	if len(step.Errors) != len(want) {
		t.Fatalf("got %+v", step.Errors)
	}
	for i := range want {
		if step.Errors[i] != want[i] {
			t.Errorf("got %+v, want %+v", step.Errors[i], want[i])
		}
	}
}

func TestGoStepRefusals(t *testing.T) {
	goEndpoint("        request: {amount: body.size}\n").refuses(t, want{diag.BindType, "nothing says the type of body.size", "{type: bigint, source: body.size}", "body.size"})
	goEndpoint("        request: {a: Elsewhere.id}\n").refuses(t, want{diag.StepOrder, "no step is named Elsewhere", "", "Elsewhere.id"})
	goEndpoint("        returns: {a: char(3)}\n").refuses(t, want{diag.TypeUnsupported, "would round or cut", "write text", "char(3)"})
	rounded := goEndpoint("        returns: {a: price_amount}\n")
	rounded.migrations = payments + "CREATE DOMAIN price_amount AS numeric(12,2);"
	rounded.refuses(t, want{diag.TypeUnsupported, "price_amount would round or cut", "write numeric;", "price_amount"})
	goEndpoint("        returns: {a: point}\n").refuses(t, want{diag.TypeUnsupported, `"point" is no type`, "", "point"})
	service{queries: orderQueries, specs: "endpoints:\n  PlaceOrder:\n    http: POST /v1/orders\n    header: X-A \"{a}\"\n    steps:\n      - query: InsertPayment\n      - go: Price\n        returns: {a: text}\n    response: Price\n"}.
		refuses(t, want{diag.HeaderForm, "Price is a Go step", "{STEP.column}", ""})
}

package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

const takeQueries = `-- name: TakeCompartment :one
UPDATE payments SET note = 'taken' WHERE tenant_id = @tenant_id AND id = @id RETURNING id, order_id AS number;

-- name: InsertParcel :one
INSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, @order_id, 1, 'EUR') RETURNING id, order_id AS code;
`

// Where two steps return a column, a header must not silently take one of them.
func TestHeaderOfSeveralSteps(t *testing.T) {
	takes := func(header, response string) service {
		return service{queries: takeQueries, specs: "endpoints:\n  Take:\n    http: POST /v1/parcels\n    header: Location \"" + header + "\"\n" +
			"    steps: [{query: TakeCompartment}, {query: InsertParcel}]\n" + response}
	}
	const both = "    response: {a: TakeCompartment, b: InsertParcel}\n"
	takes("/x/{id}", both).refuses(t, want{diag.HeaderForm, "the column id, which several steps return", "{TakeCompartment.id} or {InsertParcel.id}", "Location"})
	takes("/x/{id}", "").refuses(t, want{diag.HeaderForm, "which several steps return", "{InsertParcel.id}", "Location"})
	takes("/x/{number}", both).refuses(t, want{diag.ColumnUnknown, "names the column number, which InsertParcel does not return", "write {TakeCompartment.number}", "Location"})
	takes("/x/{InsertParcel.id}/{TakeCompartment.number}", both).
		refuses(t, want{diag.ColumnUnknown, "TakeCompartment.number", "return number from InsertParcel too", "Location"})
	for header, step := range map[string]string{"/x/{TakeCompartment.id}/{number}": "TakeCompartment", "/x/{code}": "InsertParcel"} {
		if op := takes(header, both).operation(t); op.Headers[0].Step != step {
			t.Errorf("%s: %+v", header, op.Headers[0])
		}
	}
	if op := takes("/x/{id}", "    response: TakeCompartment\n").operation(t); op.Headers[0].Step != "TakeCompartment" {
		t.Errorf("the response's step: %+v", op.Headers[0])
	}
}

package plan

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// wantDiagnostic plans what must be refused, with a place and a way out.
func wantDiagnostic(t *testing.T, want diag.Code, op *model.Operation) {
	t.Helper()
	var diags diag.List
	pos := diag.Pos{File: "q.sql", Line: 3, Col: 1}
	for _, s := range op.Steps {
		s.Query.Pos = pos
		if s.Intent != nil {
			s.Intent.Pos = pos
		}
	}
	Plan(&model.Service{Name: "shop", Operations: []*model.Operation{op}}, &diags)
	for _, d := range diags.Sorted() {
		if d.Code == want {
			if d.Pos != pos || d.Hint == "" {
				t.Errorf("%+v", d)
			}
			return
		}
	}
	t.Errorf("no %s in %v", want, diags.Sorted())
}

// Pitfall 13: a table or expression named like ours would be captured.
func TestPitfall_13_OurNamesAreRefused(t *testing.T) {
	for _, sql := range []string{
		"SELECT sku FROM idem_prior",
		`SELECT sku FROM "idem_Prior"`,
		"WITH IDEM_done AS (SELECT 1) SELECT sku FROM lines",
		"SELECT sku AS idem_hit FROM lines",
		"WITH idem_event AS (SELECT 1) SELECT sku FROM lines",
		"DELETE FROM shop.idem_gone RETURNING sku",
	} {
		wantDiagnostic(t, diag.NameCollision, operation(t, "Q", nil, step{name: "Q", command: "one", sql: sql, returns: "sku text"}))
	}
	planned(t, operation(t, "Q", nil, step{name: "Q", command: "one", sql: "SELECT sku, 'idem_prior', idem.version() FROM lines -- idem_prior", returns: "sku text, a text, b integer"}))
}

func TestStatementsThatCantBePlanned(t *testing.T) {
	bad := func(sql string) *model.Operation {
		return operation(t, "Q", nil, step{name: "Q", command: "exec", sql: sql})
	}
	wantDiagnostic(t, diag.QuerySyntax, bad("DELETE FRM lines"))
	wantDiagnostic(t, diag.QueryUnsupport, bad("TRUNCATE lines"))
}

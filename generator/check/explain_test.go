package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// TestExplanationsAreTrue: the wrong example of `idemgen explain` causes the
// diagnostic, the right one causes none.
func TestExplanationsAreTrue(t *testing.T) {
	page := "-- name: Op :many\nSELECT id FROM payments WHERE tenant_id = @tenant_id LIMIT @page_size::int;\n"
	create := strings.Replace(createPayment, "-- @http POST /v1/payments\n", "", 1)
	for code, c := range map[diag.Code]struct{ query, words string }{
		diag.AnnotationForm: {query: "SELECT id FROM payments WHERE tenant_id = @tenant_id;\n"}, // with its own head
		diag.UnknownWord:    {query: create}, diag.RouteForm: {query: create},
		diag.RepeatedWord: {query: createPayment}, diag.BindUnknown: {query: createPayment}, diag.KeyRule: {query: createPayment},
		diag.BindType:      {query: page, words: "-- @http GET /x\n"},
		diag.IntentColumns: {query: createPayment}, diag.IntentReturn: {query: createPayment},
		diag.ProblemForm: {query: createPayment}, diag.HeaderForm: {query: createPayment}, diag.PolicyForm: {query: createPayment},
		diag.ExampleForm: {query: strings.Replace(createPayment, "@currency", "'EUR'", 1)}, diag.ConstraintUnused: {query: createPayment},
		diag.EventForm: {}, // whole queries
	} {
		e, _ := diag.Explain(code)
		for _, example := range []string{e.Wrong, e.Right} {
			head, body, _ := strings.Cut(c.query, "\n")
			text := head + "\n" + c.words + example + "\n" + body
			if !strings.HasPrefix(head, "-- name:") {
				text = example + "\n" + c.query
			}
			_, got := service{queries: text}.check(t)
			caused := slices.ContainsFunc(got, func(d diag.Diagnostic) bool { return d.Code == code })
			if example == e.Wrong && !caused {
				t.Errorf("%s: the wrong example does not cause it:\n%s\n%v", code, text, got)
			}
			if example == e.Right && len(got) > 0 {
				t.Errorf("%s: the right example is refused:\n%s\n%v", code, text, got)
			}
		}
	}
}

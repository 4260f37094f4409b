package contract

import (
	"net/http"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// profileGateway is the profile whose protocol is most unlike the others'.
const profileGateway = "gateway"

// answers are the answers of an operation that are no problems, by status.
func answers(svc *model.Service, op *plan.Operation) []Answer {
	m := op.Model
	body := responseBody(svc, m)
	headers := headerNames(m)
	out := []Answer{{Status: m.Status, Body: bodyAt(m.Status, body), Headers: headers}}
	add := func(a Answer) {
		for i := range out {
			if out[i].Status == a.Status {
				out[i].Null = out[i].Null || a.Null
				return
			}
		}
		out = append(out, a)
	}
	for _, step := range m.Steps {
		for _, rule := range step.Statuses {
			add(Answer{Status: rule.Status, Body: bodyAt(rule.Status, body), Headers: headers})
		}
		if status, null, ok := fineEmpty(op, step); ok {
			a := Answer{Status: status, Null: null}
			if null {
				a.Body = bodyAt(status, body)
				a.Null = a.Body != nil
			}
			add(a)
		}
	}
	if svc.Profile == profileGateway && m.Key.Protects() && !slices.ContainsFunc(out, func(a Answer) bool { return a.Status == http.StatusOK }) {
		out = append(out, Answer{Status: http.StatusOK, Running: true})
	}
	slices.SortStableFunc(out, func(a, b Answer) int { return a.Status - b.Status })
	return out
}

// fineEmpty is the answer where no row is fine, false where there is none.
func fineEmpty(op *plan.Operation, step *model.Step) (status int, null, ok bool) {
	m := op.Model
	answers := len(m.Steps) == 1 || m.Response.Kind == model.ResponseStep && m.Response.Step == step.Name
	if !step.Empty.Fine || !answers || !mayBeEmpty(op, step) {
		return 0, false, false
	}
	return step.Empty.Status, hasRow(step), true
}

// bodyAt is the body unless HTTP allows none with a status (RFC 9110).
func bodyAt(status int, body *Node) *Node {
	if status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified {
		return nil
	}
	return body
}

func headerNames(m *model.Operation) []string {
	names := make([]string, len(m.Headers))
	for i, h := range m.Headers {
		names[i] = http.CanonicalHeaderKey(h.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mayBeEmpty reports whether a step can end without a row, where that means
// something.
func mayBeEmpty(op *plan.Operation, step *model.Step) bool {
	if step.Go != nil || returnsMany(step) {
		return false
	}
	if op.Strategy != plan.Stepped {
		return op.MayBeEmpty
	}
	shape := step.Query.Shape
	always := shape.Kind == model.Insert && shape.SingleValues && shape.OnConflict == ""
	return !always || shape.TargetTraits.RowTriggers
}

func hasRow(step *model.Step) bool {
	return step.Go != nil && len(step.Query.Columns) > 0 || strings.HasSuffix(step.Query.Command, "one") || strings.HasSuffix(step.Query.Command, "many")
}

// returnsMany reports whether the answer of a step is a list.
func returnsMany(step *model.Step) bool {
	return step.Each != nil || step.Query.Command == "many" || step.Query.Command == "batchmany"
}

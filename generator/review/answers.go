package review

import (
	"net/http"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// answers are the statuses that an operation gives, success first. Those that
// are the same for every operation are left to docs/semantics.md.
func answers(profile string, p *plan.Operation) []Answer {
	a := answerList{op: p.Model}
	a.add(p.Model.Status, model.Problem{}, "done", a.kept(p.Model.Policy.Success))
	for _, s := range p.Model.Steps {
		a.step(s)
	}
	a.general(profile)
	return a.out
}

type answerList struct {
	op  *model.Operation
	out []Answer
}

func (a *answerList) add(status int, p model.Problem, from, kept string) {
	a.out = append(a.out, Answer{Status: status, Code: p.Code, Title: oneLine(p.Title), From: oneLine(from), Kept: kept})
}

// kept is how long an answer is recorded, "" where there is no key.
func (a *answerList) kept(d time.Duration) string {
	if !a.op.Key.Protects() {
		return ""
	}
	return duration(d)
}

// refusalKept is the time of a client error: never less than a late copy of the
// request may take.
func (a *answerList) refusalKept() string {
	return a.kept(max(a.op.Policy.ClientError, 2*a.op.Policy.Timeout))
}

func (a *answerList) refusal(p model.Problem, from string) { a.add(p.Status, p, from, a.refusalKept()) }

func (a *answerList) step(s *model.Step) {
	at := ""
	if len(a.op.Steps) > 1 {
		at = s.Name + ": "
	}
	for _, r := range s.Statuses {
		a.add(r.Status, model.Problem{}, at+r.Column+" is true; the writes stay", a.kept(a.op.Policy.Success))
	}
	a.empty(at, s)
	for _, r := range s.Requires {
		a.refusal(r.Problem, at+r.Column+" is not true")
	}
	for _, r := range s.Errors {
		switch cause := r.Constraint + r.SQLState; {
		case cause == "":
			a.refusal(r.Problem, at+"the function says so")
		case r.Declared:
			a.refusal(r.Problem, at+cause+" is violated")
		default:
			a.refusal(r.Problem, at+cause+" is violated; 422 input-invalid where that is seen before")
		}
	}
	if s.Intent != nil {
		from := at + s.Intent.Index + " is violated: there is a row for this intent"
		if s.OnIntent == "return" {
			from += "; if it equals the inputs, it is the answer"
		}
		a.refusal(model.Problem{Status: http.StatusConflict, Code: "intent-conflict", Title: "Already done"}, from)
	}
}

// empty is what no row means, where there can be none.
func (a *answerList) empty(at string, s *model.Step) {
	switch empty := s.Empty; {
	case s.Go != nil, s.Query.Command == "many", s.Query.Command == "batchmany", surelyOne(s):
	case empty.Fine && empty.Status != 0:
		a.add(empty.Status, model.Problem{}, at+"no row; the writes stay", a.kept(a.op.Policy.Success))
	case !empty.Fine:
		a.refusal(empty.Problem, at+"no row")
	}
}

// surelyOne reports whether a statement always gives its row.
func surelyOne(s *model.Step) bool {
	shape := s.Query.Shape
	return shape.Kind == model.Insert && shape.SingleValues && shape.OnConflict == "" && !shape.TargetTraits.RowTriggers
}

// general are the refusals that follow from the key, the policy and the inputs.
func (a *answerList) general(profile string) {
	refuse := func(status int, code, title, from string) {
		a.add(status, model.Problem{Code: code, Title: title}, from, "")
	}
	if len(a.op.Inputs) > 0 {
		refuse(http.StatusUnprocessableEntity, "input-invalid", "Some inputs are not valid", "an input breaks a rule of its column")
	}
	if !a.op.Key.Protects() {
		return
	}
	if a.op.Key.From == "header" && a.op.Key.Required {
		refuse(http.StatusBadRequest, "key-missing", "Idempotency key missing", "the request has no key")
	}
	reused := http.StatusUnprocessableEntity
	if profile == "stripe" {
		reused = http.StatusBadRequest
	}
	if !a.op.Policy.NoPrint {
		refuse(reused, "key-reused", "Idempotency key reused", "the key was used with other inputs")
	}
	waits := "a request with the key runs"
	if w := a.op.Policy.Wait; w > 0 {
		waits += " for longer than " + duration(w)
	}
	if profile == "gateway" {
		refuse(http.StatusOK, "processing", "", waits)
	} else {
		refuse(http.StatusConflict, "in-flight", "Request in flight", waits)
	}
}

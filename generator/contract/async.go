package contract

import (
	"net/http"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// Outcome is how an async operation ends: its status shows it.
type Outcome struct {
	Answers  []Answer // by status
	Problems []Problem
}

// EventID is the member, and the path parameter, that names a request of an async
// operation.
const EventID = "event_id"

// later makes o the half of an async operation that answers at once, beside its
// outcome and the operation that tells its status.
func later(svc *model.Service, op *plan.Operation, o *Operation) {
	o.Outcome = &Outcome{Answers: answers(svc, op), Problems: outcomeProblems(svc, op)}
	accepted := Answer{Status: http.StatusAccepted, Body: acceptedBody(), Headers: []string{"Location"}}
	o.Answers = []Answer{accepted}
	if svc.Profile == profileGateway {
		o.Answers = []Answer{{Status: http.StatusOK, Running: true}, accepted}
	}
	o.Problems = acceptProblems(svc, op)
}

func acceptedBody() *Node {
	event := &Node{Name: EventID, GoName: "EventID", Type: model.Type{Kind: model.KindUUID}, Required: true}
	return &Node{Form: FormObject, Required: true, Members: []*Node{event}}
}

// acceptProblems are the refusals of a request that is only written down: what
// rows decide, they decide later.
func acceptProblems(svc *model.Service, op *plan.Operation) []Problem {
	l := &problemList{svc: svc, op: op, m: op.Model}
	l.reading()
	l.keys()
	l.checked()
	if len(l.m.Inputs) > 0 {
		l.add("invalid-value")
	}
	return l.sorted()
}

// outcomeProblems are what may be recorded instead of a success.
func outcomeProblems(svc *model.Service, op *plan.Operation) []Problem {
	l := &problemList{svc: svc, op: op, m: op.Model}
	l.declared()
	l.database()
	l.add("given-up")
	slices.SortStableFunc(l.list, byStatus)
	return l.list
}

// checked are the declared answers to constraints that inputs are held to before
// anything is written.
func (l *problemList) checked() {
	var names []string
	var collect func(t model.Type)
	collect = func(t model.Type) {
		for _, c := range t.Checks {
			names = append(names, c.Name)
		}
		for _, m := range t.Members {
			collect(m.Type)
		}
	}
	for _, in := range l.m.Inputs {
		collect(in.Type)
	}
	for _, step := range l.m.Steps {
		for _, r := range step.Errors {
			if r.Constraint != "" && slices.Contains(names, r.Constraint) {
				l.put(Problem{Status: r.Problem.Status, Code: r.Problem.Code, Title: title(r.Problem), Declared: true})
			}
		}
	}
}

// statusOf is the operation that tells the status of an async one.
func statusOf(svc *model.Service, async *Operation, names pathNames) *Operation {
	m := async.Model
	o := &Operation{StatusOf: async, Model: &model.Operation{
		Name: m.Name + "Status", Method: http.MethodGet, Tags: m.Tags, Status: http.StatusOK,
		Key:     model.Key{From: "none"},
		Summary: "Say how a request of " + m.Name + " has come on.",
	}}
	o.Path, _ = names.unify(m.Path + "/{" + EventID + "}")
	for _, p := range async.Params {
		if p.In == model.FromPath {
			o.Params = append(o.Params, p)
		}
	}
	event := *acceptedBody().Members[0]
	o.Params = append(o.Params, &Param{Node: event, In: model.FromPath, Wire: EventID})
	o.Answers = []Answer{{Status: http.StatusOK, Body: &Node{Form: FormObject, Required: true}}}
	l := &problemList{svc: svc, m: o.Model}
	l.caller()
	l.add("event-unknown")
	o.Problems = l.sorted()
	return o
}

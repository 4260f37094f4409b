// Package contract is what an operation looks like from outside: its parameters,
// its body, its answers and the problems it can answer with. OpenAPI documents and
// typed clients are two spellings of it. It is made from the model and the plan
// alone, in a fixed order.
package contract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// Operation is an operation as its clients see it.
type Operation struct {
	Model  *model.Operation
	Path   string // `{name}` for each path parameter, of one name per place in all of a service
	Params []*Param
	Body   *Node // nil: it takes none
	// BodyRequired: an empty body is refused.
	BodyRequired bool
	Answers      []Answer // by status
	Problems     []Problem
	// Outcome is how an async operation ends, whose Answers are those to a request
	// that was written down; nil for others.
	Outcome *Outcome
	// Status tells an async operation's status: GET at its path, the event behind it.
	Status *Operation
	// StatusOf is the async operation that this one tells the status of.
	StatusOf *Operation
}

// Param is an input outside the body.
type Param struct {
	Node
	In   model.InputFrom // path, query or header
	Wire string          // its name in the request; Name is the operation's own
}

// Answer is an answer other than a problem.
type Answer struct {
	Status int
	Body   *Node // nil: it has none
	// Null: `null` stands for a row that is not there.
	Null bool
	// Headers are sent where the operation did its work.
	Headers []string
	// Running: the profile's way to say that a twin of the request still runs.
	Running bool
}

// Of describes the operations of a service, in their order.
func Of(svc *model.Service, ops []*plan.Operation) []*Operation {
	out := make([]*Operation, len(ops))
	names := pathNames{}
	for i, op := range ops {
		out[i] = describe(svc, op, names)
	}
	for _, o := range out {
		if o.Outcome != nil {
			o.Status = statusOf(svc, o, names)
		}
	}
	return out
}

func describe(svc *model.Service, op *plan.Operation, names pathNames) *Operation {
	m := op.Model
	o := &Operation{Model: m}
	var wires map[string]string
	o.Path, wires = names.unify(m.Path)
	for _, in := range m.Inputs {
		switch in.From {
		case model.FromPath, model.FromQuery, model.FromHeader:
			p := &Param{Node: *inputNode(in), In: in.From, Wire: in.Name}
			if in.From == model.FromPath {
				p.Wire, p.Required, p.Nullable = cmp.Or(wires[in.Name], in.Name), true, false
			}
			o.Params = append(o.Params, p)
		case model.FromBody, model.FromCaller:
		}
	}
	o.Body = requestBody(m)
	o.BodyRequired = slices.ContainsFunc(m.Inputs, func(in *model.Input) bool { return in.From == model.FromBody && isRequired(in) })
	if m.Async {
		later(svc, op, o)
		return o
	}
	o.Answers = answers(svc, op)
	o.Problems = problems(svc, op)
	return o
}

// isRequired: a request must bring it.
func isRequired(in *model.Input) bool { return in.Required && !in.Nullable && in.Default == nil }

// pathNames gives each place of a path one name: OpenAPI takes templates that
// differ only in names for the same path, which it may have once.
type pathNames map[string]string // path with its names, by the path without them

// unify returns the path with the names of the first operation at it, and those
// by the operation's own.
func (p pathNames) unify(path string) (string, map[string]string) {
	shape, own := splitPath(path)
	known, ok := p[shape]
	if !ok {
		known = path
		p[shape] = path
	}
	_, names := splitPath(known)
	byOwn := make(map[string]string, len(own))
	for i, name := range own {
		byOwn[name] = names[i]
	}
	return known, byOwn
}

// splitPath takes the names out of a chi pattern.
func splitPath(path string) (shape string, names []string) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(path, "{")
		b.WriteString(before)
		if !ok {
			return b.String(), names
		}
		name, after, _ := strings.Cut(rest, "}")
		names = append(names, name)
		b.WriteString("{}")
		path = after
	}
}

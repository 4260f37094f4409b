package check

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// declaration is an operation as declared, by a query or by an endpoint: one
// form for both.
type declaration struct {
	name        string
	pos         diag.Pos
	description string
	words       spec.Declarations // operation words, and the binds of an endpoint
	steps       []stepDecl
	response    *spec.Response
	spec        bool
	errors      []spec.ErrorRule // of the endpoint: for every step that can meet them
}

// stepDecl is one statement of a declaration, or one Go function.
type stepDecl struct {
	name  string
	pos   diag.Pos
	query *query       // nil for a Go step
	call  *spec.GoCall // of a Go step
	each  *spec.Source
	binds []spec.Bind       // nearest first: of the step, then of the query
	words spec.Declarations // statement words, the step's own before the query's
}

// declared lists the operations: every query with a route, every endpoint.
func (c *checker) declared() []*declaration {
	var out []*declaration
	for _, q := range c.queries {
		d := q.decl
		if d.Decl.HTTP == nil {
			c.orphans(d)
			continue
		}
		out = append(out, &declaration{name: d.Name, pos: d.Pos, description: d.Description, words: d.Decl,
			steps: []stepDecl{{name: d.Name, pos: d.Pos, query: q, binds: d.Decl.Binds, words: d.Decl}}})
	}
	for _, e := range c.in.Endpoints {
		if d := c.endpoint(e); d != nil {
			out = append(out, d)
		}
	}
	return out
}

// orphans refuses operation words on a query without a route: they belong to
// the endpoint that uses the query.
func (c *checker) orphans(d *spec.QueryDecl) {
	refuse := func(word string, pos diag.Pos) {
		c.diags.Errorf(diag.RouteForm, pos, "%s says how an operation is reached, but %s has no @http", word, d.Name).
			Hint("add @http METHOD PATH, or write it in the endpoint that uses the query")
	}
	w := d.Decl
	if w.Key != nil {
		refuse("@key", w.Key.Pos)
	}
	if w.Policy != nil {
		refuse("@policy", w.Policy.Pos)
	}
	if w.Operation != nil {
		refuse("@operation", w.Operation.Pos)
	}
	for _, h := range w.Headers {
		refuse("@header", h.Pos)
	}
	if w.Example != nil {
		refuse("@example", w.Example.Pos)
	}
	if w.Async != nil {
		refuse("@async", *w.Async)
	}
	for _, t := range w.Tags {
		refuse("@tag", t.Pos)
	}
}

func (c *checker) endpoint(e *spec.Endpoint) *declaration {
	d := &declaration{name: e.Name.Value, pos: e.Name.Pos, description: e.Doc, words: e.Decl, response: e.Response, spec: true}
	if e.Decl.HTTP == nil || len(e.Steps) == 0 {
		return nil // refused by the parser
	}
	complete := true
	for _, s := range e.Steps {
		if s.Go != nil {
			d.steps = append(d.steps, newGoStep(s))
			continue
		}
		q := c.lookup(s.Query)
		if q == nil {
			complete = false
			continue
		}
		q.used = true
		d.steps = append(d.steps, newStep(s, q))
	}
	if !complete {
		return nil
	}
	d.errors = e.Decl.Errors
	return d
}

func newStep(s spec.Step, q *query) stepDecl {
	d := stepDecl{name: q.decl.Name, pos: s.Pos, query: q, each: s.Each, words: override(s.Decl, q.decl.Decl)}
	if s.As != nil {
		d.name, d.pos = s.As.Value, s.As.Pos
	}
	d.binds = append(d.binds, s.Binds...)
	d.binds = append(d.binds, s.Decl.Binds...)
	d.binds = append(d.binds, q.decl.Decl.Binds...)
	return d
}

func newGoStep(s spec.Step) stepDecl {
	d := stepDecl{name: s.Go.Func.Value, pos: s.Go.Func.Pos, call: s.Go, words: s.Decl}
	if s.As != nil {
		d.name, d.pos = s.As.Value, s.As.Pos
	}
	return d
}

// paramPos is where a parameter stands: in the SQL, or in `request:`.
func (sd *stepDecl) paramPos(name string) diag.Pos {
	if sd.call == nil {
		return paramPos(sd.query.decl, name)
	}
	for _, m := range sd.call.Request {
		if m.Name.Value == name {
			return m.Name.Pos
		}
	}
	return sd.pos
}

// override lets the nearer words win over the statement's own.
func override(near, own spec.Declarations) spec.Declarations {
	out := own
	if near.Intent != nil {
		out.Intent = near.Intent
	}
	if near.Requires != nil {
		out.Requires = near.Requires
	}
	if near.Statuses != nil {
		out.Statuses = near.Statuses
	}
	if near.Empty != nil {
		out.Empty = near.Empty
	}
	if near.Omit != nil {
		out.Omit = near.Omit
	}
	if near.Errors != nil {
		out.Errors = near.Errors
	}
	if near.Outbox != nil {
		out.Outbox = near.Outbox
	}
	return out
}

// firstSentence is the summary of a description.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// commandHasRow reports whether a command of sqlc gives rows.
func commandHasRow(q *model.Query) bool {
	switch q.Command {
	case "one", "many", "batchone", "batchmany":
		return true
	}
	return false
}

func commandIsMany(q *model.Query) bool { return q.Command == "many" || q.Command == "batchmany" }

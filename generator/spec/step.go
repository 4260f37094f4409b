package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func trimDoc(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r", "")) }

// steps reads the list of steps.
func (r *endpointReader) steps(e yamltree.Entry) []Step {
	list, ok := e.Value.List()
	if !ok {
		if !e.Value.IsList() {
			r.diags.Errorf(diag.SpecForm, e.Value.Pos(), "`steps:` is a list, this is %s", e.Value.Kind()).
				Hint("write - query: NAME for each step")
		}
		return nil
	}
	if len(list) == 0 {
		r.diags.Errorf(diag.SpecForm, e.Key.Pos, "`steps:` is empty").Hint("write - query: NAME for each step")
	}
	var out []Step
	for _, n := range list {
		if s := r.step(n); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// step reads one step; nil if it runs nothing.
func (r *endpointReader) step(n yamltree.Node) *Step {
	entries, ok := r.mapping(n, "a step", "query: NAME")
	if !ok {
		return nil
	}
	s := &Step{Pos: n.Pos()}
	if !r.stepKind(s, entries) {
		return nil
	}
	if s.Go != nil {
		r.goStep(s, entries)
		return s
	}
	words := &wordReader{where: inStep, decl: &s.Decl, diags: r.diags}
	for _, k := range r.known(entries, stepKeys(), wordKeys(true), "a step", "it belongs to the endpoint: write it beside `steps:`") {
		switch k.Key.Value {
		case "query":
		case "as":
			s.As = r.as(k)
		case "each":
			s.Each = r.each(k)
		case "go", "call":
			r.diags.Errorf(diag.SpecForm, k.Key.Pos, "a step runs one thing: a query or a Go function").Hint("write the Go function as a step of its own")
		case "request", "returns", "undo", "unknown", "lease":
			r.diags.Errorf(diag.SpecForm, k.Key.Pos, "`%s:` belongs to a step of Go, this one is a query", k.Key.Value).Hint("remove it")
		default:
			words.read(k)
		}
	}
	s.Binds, s.Decl.Binds = s.Decl.Binds, nil
	return s
}

// goFunc reads the function of a `go:` or `call:` step.
func (r *endpointReader) goFunc(s *Step, k yamltree.Entry) bool {
	text, ok := r.text(k)
	if !ok || !r.funcName(k.Key.Value, text) {
		return false
	}
	s.Go = &GoCall{Func: Name{Value: text.Value, Pos: text.Pos}}
	if k.Key.Value == "call" {
		s.Go.Outside = &OutsideCall{}
	}
	return true
}

// stepKind finds what the step runs: one query, or one Go function.
func (r *endpointReader) stepKind(s *Step, entries []yamltree.Entry) bool {
	found := false
	for _, k := range entries {
		switch k.Key.Value {
		case "go", "call":
			return r.goFunc(s, k)
		case "query":
			found = true
			text, ok := r.text(k)
			if !ok {
				return false
			}
			s.Query = Name{Value: text.Value, Pos: text.Pos}
			if !isDotted(text.Value) || strings.Count(text.Value, ".") > 1 {
				r.diags.Errorf(diag.SpecForm, text.Pos, "%q is not the name of a query", text.Value).
					Hint("write the query's name, or package.Name where several packages have it")
				return false
			}
		}
	}
	if found {
		return true
	}
	if contains(yamltree.Misspelt(entries, stepKeys()), "query") {
		r.known(entries, stepKeys(), wordKeys(true), "a step", "it belongs to the endpoint: write it beside `steps:`")
		return false // the unknown key is what is reported
	}
	r.diags.Errorf(diag.SpecForm, s.Pos, "the step says not what it runs").Hint("add query: NAME, go: FUNCTION or call: FUNCTION")
	return false
}

func (r *endpointReader) as(k yamltree.Entry) *Name {
	text, ok := r.text(k)
	if !ok {
		return nil
	}
	if !isIdent(text.Value) || contains(bareSources, text.Value) || contains(dottedSources, text.Value) {
		r.diags.Errorf(diag.SpecForm, text.Pos, "%q can't be the name of a step", text.Value).
			Hint("use letters, digits and _, and no word that begins a source")
		return nil
	}
	return &Name{Value: text.Value, Pos: text.Pos}
}

// each reads the list that the step runs over: a member of the body.
func (r *endpointReader) each(k yamltree.Entry) *Source {
	text, ok := r.text(k)
	if !ok {
		return nil
	}
	a, ok := newArgs("each", inEndpoint, k.Key.Pos, text, r.diags)
	if !ok {
		return nil
	}
	if len(a.fields) == 0 {
		r.diags.Errorf(diag.SpecForm, text.Pos, "`each:` is empty").Hint("write each: body.NAME, or remove the key")
		return nil
	}
	f, _ := a.take()
	src, ok := a.source(f)
	a.rest()
	if !ok || a.failed {
		return nil
	}
	if src.Kind != SourceBody || len(src.Path) == 0 {
		r.diags.Errorf(diag.SpecForm, src.Pos, "`each:` runs over a list of the body").Hint("write each: body.NAME")
		return nil
	}
	return &src
}

// response reads STEP, STEP.COLUMN or a mapping of them.
func (r *endpointReader) response(n yamltree.Node) *Response {
	out := &Response{Pos: n.Pos()}
	if text, ok := n.Text(); ok {
		out.Ref = strings.Split(text.Value, ".")
		if !isIdent(out.Ref[0]) || len(out.Ref) > 1 && !isDotted(strings.Join(out.Ref[1:], ".")) {
			r.diags.Errorf(diag.SpecForm, text.Pos, "%q is neither a step nor a step's column", text.Value).
				Hint("write STEP or STEP.column")
			return nil
		}
		if len(out.Ref) > 2 { // a column whose alias nests: Step.customer.name
			out.Ref = []string{out.Ref[0], strings.Join(out.Ref[1:], ".")}
		}
		return out
	}
	entries, ok := r.mapping(n, "`response:`", "STEP, STEP.column, or a mapping {name: STEP}")
	if !ok {
		return nil
	}
	if len(entries) == 0 {
		r.diags.Errorf(diag.SpecForm, n.Pos(), "the response has no members").Hint("name a step, or leave response out for an answer without a body")
		return nil
	}
	for _, e := range entries {
		if !isMember(e.Key.Value) || strings.Contains(e.Key.Value, ".") {
			r.diags.Errorf(diag.SpecForm, e.Key.Pos, "%q can't be a member of the response", e.Key.Value).Hint("use letters, digits and _")
			continue
		}
		if value := r.response(e.Value); value != nil {
			out.Members = append(out.Members, ResponseMember{Name: Name{Value: e.Key.Value, Pos: e.Key.Pos}, Value: *value})
		}
	}
	return out
}

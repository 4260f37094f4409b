package spec

import (
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// endpointKeys and stepKeys are the keys beside the words of the language.
func endpointKeys() []string {
	return append([]string{"doc", "steps", "response", "request"}, wordKeys(true, "bind", "error")...)
}

func stepKeys() []string {
	return append([]string{"query", "as", "each", "go", "call", "request", "returns", "undo", "unknown", "lease"}, wordKeys(false)...)
}

// wordKeys are the words that say how an operation is reached, or the others,
// and extra ones.
func wordKeys(operation bool, extra ...string) []string {
	var keys []string
	for _, w := range words() {
		if w.operation == operation {
			keys = append(keys, w.name)
		}
	}
	return append(keys, extra...)
}

// ParseEndpoints reads one file of endpoint specs.
func ParseEndpoints(file string, text []byte, diags *diag.List) []*Endpoint {
	root, ok := yamltree.Parse(file, text, diags)
	if !ok {
		return nil
	}
	r := &endpointReader{diags: diags}
	top, ok := r.mapping(root, "an endpoint spec", "endpoints: {CreateTransfer: {http: POST /v1/transfers 201, steps: […]}}")
	if !ok {
		return nil
	}
	if len(top) == 0 {
		diags.Errorf(diag.SpecForm, root.Pos(), "the file declares nothing").Hint("add endpoints: and one endpoint")
	}
	if top = yamltree.Unknown(top, []string{"endpoints"}, "an endpoint spec", diags); len(top) == 0 {
		return nil
	}
	entries, ok := r.mapping(top[0].Value, "`endpoints:`", "endpoints: {CreateTransfer: {http: POST /v1/transfers 201, steps: […]}}")
	if !ok {
		return nil
	}
	var out []*Endpoint
	for _, e := range entries {
		if ep := r.endpoint(e); ep != nil {
			out = append(out, ep)
		}
	}
	return out
}

type endpointReader struct{ diags *diag.List }

func (r *endpointReader) mapping(n yamltree.Node, what, form string) ([]yamltree.Entry, bool) {
	entries, ok := n.Map()
	if n.IsNull() {
		r.diags.Errorf(diag.SpecForm, n.Pos(), "%s has no value", what).Hint("write %s", form)
	} else if !ok && !n.IsMap() {
		r.diags.Errorf(diag.SpecForm, n.Pos(), "%s is a mapping, this is %s", what, n.Kind()).Hint("write %s", form)
	}
	return entries, ok
}

// textExamples are values of the keys that take a text.
var textExamples = map[string]string{"doc": "Move money between two accounts.", "query": "InsertTransfer", "go": "Refund", "call": "ChargeCard", "undo": "RefundCharge", "unknown": "hold", "lease": "30s", "as": "debit", "each": "body.lines"}

func (r *endpointReader) text(e yamltree.Entry) (yamltree.Scalar, bool) {
	s, ok := e.Value.Text()
	if !ok {
		r.diags.Errorf(diag.SpecForm, e.Value.Pos(), "`%s:` takes a text, this is %s", e.Key.Value, e.Value.Kind()).
			Hint("write %s: %s", e.Key.Value, textExamples[e.Key.Value])
	}
	return s, ok
}

// endpoint reads one entry of `endpoints:`.
func (r *endpointReader) endpoint(e yamltree.Entry) *Endpoint {
	ep := &Endpoint{Name: Name{Value: e.Key.Value, Pos: e.Key.Pos}}
	if !isOperation(ep.Name.Value) {
		r.diags.Errorf(diag.SpecForm, ep.Name.Pos, "%q is not the name of an operation: a capital letter, then letters and digits", ep.Name.Value).
			Hint("write CreateTransfer")
		return nil
	}
	entries, ok := r.mapping(e.Value, "endpoint "+ep.Name.Value, ep.Name.Value+": {http: POST /v1/transfers 201, steps: [{query: InsertTransfer}]}")
	if !ok {
		return nil
	}
	words := &wordReader{where: inEndpoint, decl: &ep.Decl, diags: r.diags}
	for _, k := range r.known(entries, endpointKeys(), wordKeys(false), "an endpoint", "it belongs to a step: write it under the step's `query:`") {
		switch k.Key.Value {
		case "doc":
			if s, ok := r.text(k); ok {
				ep.Doc = trimDoc(s.Value)
			}
		case "steps":
			ep.Steps = r.steps(k)
		case "response":
			ep.Response = r.response(k.Value)
		case "request":
			notYet("`request:`", k.Key.Pos, r.diags)
		default:
			words.read(k)
		}
	}
	ep.Decl.reachTool(inEndpoint, r.diags)
	r.required(ep, entries)
	return ep
}

// known drops keys that can't stand here; those that could stand elsewhere get
// their own hint.
func (r *endpointReader) known(entries []yamltree.Entry, keys, elsewhere []string, where, hint string) []yamltree.Entry {
	var rest []yamltree.Entry
	for _, e := range entries {
		if !contains(keys, e.Key.Value) && contains(elsewhere, e.Key.Value) {
			r.diags.Errorf(diag.SpecForm, e.Key.Pos, "`%s:` can't stand on %s", e.Key.Value, where).Hint("%s", hint)
			continue
		}
		rest = append(rest, e)
	}
	return yamltree.Unknown(rest, keys, where, r.diags)
}

// required reports an endpoint without a route or without steps.
func (r *endpointReader) required(ep *Endpoint, entries []yamltree.Entry) {
	misspelt := yamltree.Misspelt(entries, endpointKeys())
	has := func(keys ...string) bool {
		if slices.ContainsFunc(keys, func(k string) bool { return contains(misspelt, k) }) {
			return true // the unknown key is what is reported
		}
		for _, e := range entries {
			if contains(keys, e.Key.Value) {
				return true
			}
		}
		return false
	}
	if !has("http", "webhook", "consume", "tool") {
		r.diags.Errorf(diag.SpecForm, ep.Name.Pos, "endpoint %s has no route", ep.Name.Value).
			Hint("add http: POST /v1/transfers 201")
	}
	if !has("steps") {
		r.diags.Errorf(diag.SpecForm, ep.Name.Pos, "endpoint %s has no steps", ep.Name.Value).
			Hint("add steps: with one `- query: NAME` for each statement")
	}
}

package spec

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// GoCall is what a `go:` or `call:` step calls.
type GoCall struct {
	Func Name
	// Request are the values that the function takes; with Whole it takes the
	// operation's own input.
	Request []GoMember
	Whole   bool
	Returns []GoMember
	Outside *OutsideCall // of a `call:` step
}

// GoMember is a value that a Go function takes or returns. Both Source and Type
// are set where the text can be either, as in public.money: check decides.
type GoMember struct {
	Name   Name
	Source *Source
	Type   *GoType
}

// GoType is a type of SQL, with what a request's value must keep to.
type GoType struct {
	Pos       diag.Pos
	Name      string     // the SQL name; "" for objects
	Members   []GoMember // of an object
	List      bool       // a list of such objects
	Source    *Source    // where in the request it is; nil: the member of the value's name
	Optional  bool
	Min       *Text
	Max       *Text
	MinLength *Text
	MaxLength *Text
	Pattern   *Text
}

// restricted reports whether more than the type is said.
func (t *GoType) restricted() bool {
	return t.Optional || t.Min != nil || t.Max != nil || t.MinLength != nil || t.MaxLength != nil || t.Pattern != nil
}

// goStep reads the keys of a `go:` or `call:` step.
func (r *endpointReader) goStep(s *Step, entries []yamltree.Entry) {
	s.Go.Whole = true
	kind := "go"
	if s.Go.Outside != nil {
		kind = "call"
	}
	words := &wordReader{where: inStep, decl: &s.Decl, diags: r.diags}
	for _, k := range r.known(entries, stepKeys(), wordKeys(true), "a step", "it belongs to the endpoint: write it beside `steps:`") {
		switch k.Key.Value {
		case kind:
		case "as":
			s.As = r.as(k)
		case "request":
			s.Go.Whole = false
			s.Go.Request = r.goMembers(k.Value, "request", true)
		case "returns":
			s.Go.Returns = r.goMembers(k.Value, "returns", false)
		case "error":
			words.read(k)
		case "undo", "unknown", "lease":
			if s.Go.Outside != nil {
				r.callOption(s, k)
				continue
			}
			fallthrough
		default:
			r.diags.Errorf(diag.SpecForm, k.Key.Pos, "`%s:` can't stand on a `%s:` step", k.Key.Value, kind).Hint("%s", goStepHint(k.Key.Value))
		}
	}
}

func goStepHint(key string) string {
	switch key {
	case "query", "go", "call":
		return "a step runs one thing: write the " + map[string]string{"query": "query", "go": "Go function", "call": "call"}[key] + " as a step of its own"
	case "bind":
		return "name what the function takes: request: {amount: body.amount}"
	case "each":
		return "the function can loop itself: request: {items: [{sku: text, qty: int}]}"
	case "require", "status", "empty":
		return "the function says it: return idem.Fail(409, \"code\", \"title\")"
	case "omit":
		return "leave it out of returns:"
	case "outbox":
		return "the function writes it: idem.Emit(ctx, idem.OutboxEvent{…})"
	case "undo", "unknown", "lease":
		return "it belongs to a `call:` step"
	}
	return "it belongs to a `query:` step"
}

// goMembers reads NAME: SOURCE or NAME: TYPE entries.
func (r *endpointReader) goMembers(n yamltree.Node, key string, sources bool) []GoMember {
	entries, ok := r.mapping(n, "`"+key+":`", key+": {amount: bigint, note: {type: text, optional: true}}")
	if !ok {
		return nil
	}
	var out []GoMember
	for _, e := range entries {
		m := GoMember{Name: Name{Value: e.Key.Value, Pos: e.Key.Pos}}
		if !isIdent(m.Name.Value) {
			r.diags.Errorf(diag.SpecForm, m.Name.Pos, "%q can't be a value of a Go function", m.Name.Value).Hint("use letters, digits and _")
			continue
		}
		if r.goMember(&m, e, sources) {
			out = append(out, m)
		}
	}
	return out
}

func (r *endpointReader) goMember(m *GoMember, e yamltree.Entry, sources bool) bool {
	text, ok := e.Value.Text()
	if ok && sources && isSource(text.Value) {
		a, ok := newArgs("request", inStep, e.Key.Pos, text, r.diags)
		if !ok {
			return false
		}
		f, ok := a.need("a source")
		if !ok {
			return false
		}
		src, ok := a.source(f)
		if a.rest(); !ok || a.failed {
			return false
		}
		if m.Source = &src; src.Kind != SourceStep {
			return true
		}
	}
	m.Type = r.goType(e.Value)
	return m.Type != nil
}

// isSource reports whether a text of `request:` begins as a source does; one
// with a dot may be a type with its schema all the same.
func isSource(s string) bool {
	head, tail, dotted := strings.Cut(s, ".")
	switch {
	case strings.HasPrefix(s, "'"), strings.HasPrefix(s, "has("):
		return true
	case dotted:
		return contains(dottedSources, head) || isIdent(head) && isIdent(tail)
	}
	return contains(bareSources, s)
}

// goTypeKeys are the keys of a type's long form.
var goTypeKeys = []string{"type", "source", "optional", "min", "max", "min_length", "max_length", "pattern"}

// goType reads TYPE, {type: TYPE, …}, [TYPE], {NAME: TYPE} or [{NAME: TYPE}].
func (r *endpointReader) goType(n yamltree.Node) *GoType {
	const form = "write a type of SQL, as in bigint or {type: text, optional: true, max_length: 200}; a list of objects is [{sku: bigint, qty: int}]"
	t := &GoType{Pos: n.Pos()}
	if text, ok := n.Text(); ok && strings.TrimSpace(text.Value) != "" {
		t.Name = strings.TrimSpace(text.Value)
		return t
	}
	if list, ok := n.List(); ok && len(list) == 1 {
		element := r.goType(list[0])
		if element == nil {
			return nil
		}
		if element.Name != "" && !element.restricted() {
			t.Name = element.Name + "[]"
			return t
		}
		if len(element.Members) > 0 && !element.List {
			element.List = true
			return element
		}
	} else if entries, ok := n.Map(); ok && len(entries) > 0 {
		if !hasKey(entries, "type") {
			t.Members = r.goMembers(n, "request", false)
			return t
		}
		return r.longType(t, entries)
	}
	r.diags.Errorf(diag.SpecForm, n.Pos(), "this is no type").Hint("%s", form)
	return nil
}

func hasKey(entries []yamltree.Entry, key string) bool {
	for _, e := range entries {
		if e.Key.Value == key {
			return true
		}
	}
	return false
}

// longType reads {type: TYPE, optional: true, min: 1, …}.
func (r *endpointReader) longType(t *GoType, entries []yamltree.Entry) *GoType {
	valid := true
	for _, k := range yamltree.Unknown(entries, goTypeKeys, "a type", r.diags) {
		if k.Key.Value == "type" {
			inner := r.goType(k.Value)
			if inner == nil {
				return nil
			}
			t.Pos, t.Name, t.Members, t.List = inner.Pos, inner.Name, inner.Members, inner.List
			continue
		}
		text, ok := k.Value.Text()
		if !ok {
			r.diags.Errorf(diag.SpecForm, k.Value.Pos(), "`%s:` of a type takes a single value, this is %s", k.Key.Value, k.Value.Kind()).
				Hint("write {type: int, min: 1, max: 100, optional: true}")
			valid = false
			continue
		}
		valid = r.typeOption(t, k.Key, &Text{Value: text.Value, Pos: text.Pos}) && valid
	}
	if !valid {
		return nil
	}
	return t
}

func (r *endpointReader) typeOption(t *GoType, key yamltree.Scalar, value *Text) bool {
	switch key.Value {
	case "optional":
		if value.Value != "true" && value.Value != "false" {
			r.diags.Errorf(diag.SpecForm, value.Pos, "`optional:` is true or false").Hint("write optional: true")
			return false
		}
		t.Optional = value.Value == "true"
	case "source":
		return r.typeSource(t, key, value)
	case "min":
		t.Min = value
	case "max":
		t.Max = value
	case "min_length":
		t.MinLength = value
	case "max_length":
		t.MaxLength = value
	case "pattern":
		t.Pattern = value
	}
	return true
}

// typeSource reads the place in the request of a value that has a type.
func (r *endpointReader) typeSource(t *GoType, key yamltree.Scalar, value *Text) bool {
	a := &args{word: "request", where: inStep, text: yamltree.Scalar{Value: value.Value, Pos: value.Pos}, wordAt: key.Pos, diags: r.diags}
	src, ok := a.source(field{text: value.Value})
	if !ok {
		return false
	}
	switch src.Kind {
	case SourceBody, SourcePath, SourceQuery, SourceHeader:
		t.Source = &src
		return true
	}
	r.diags.Errorf(diag.SpecForm, src.Pos, "the type of %s is known", value.Value).Hint("write the source alone; types are for body.NAME, path.NAME, query.NAME and header.NAME")
	return false
}

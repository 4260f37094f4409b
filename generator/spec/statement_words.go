package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// parseBind reads PARAM SOURCE [default=V] [min=V] [max=V].
func parseBind(a *args, name Name, d *Declarations) {
	f, ok := a.need("a source")
	if !ok {
		return
	}
	b := Bind{Param: name}
	if b.Source, ok = a.source(f); !ok {
		return
	}
	for f, ok = a.take(); ok; f, ok = a.take() {
		key, value, isPair := f.pair()
		if !isPair {
			a.fail(diag.AnnotationForm, a.pos(f), "%s has an argument too many: %s", a.name(), f.text)
			return
		}
		if !a.bindOption(&b, f, key, value) {
			return
		}
	}
	a.addBind(b, d)
}

var bindOptions = []string{"default", "min", "max"}

// bindOption sets one of default, min and max.
func (a *args) bindOption(b *Bind, f field, key string, value field) bool {
	text := &Text{Value: value.text, Pos: a.pos(value)}
	if value.text == "" {
		a.fail(diag.AnnotationForm, a.pos(f), "%s= has no value", key)
		return false
	}
	if inner, ok := unquote(value.text); ok {
		text.Value = inner
	}
	return a.setBindOption(b, Name{Value: key, Pos: a.at(f.offset, len(key))}, text)
}

func (a *args) setBindOption(b *Bind, key Name, text *Text) bool {
	var target **Text
	switch key.Value {
	case "default":
		target = &b.Default
	case "min":
		target = &b.Min
	case "max":
		target = &b.Max
	default:
		entry := a.fail(diag.AnnotationForm, key.Pos, "unknown option %s of %s", key.Value, a.name())
		if near := diag.Nearest(key.Value, bindOptions); near != "" {
			entry.Hint("did you mean %s=?", near)
		}
		return false
	}
	if *target != nil {
		a.repeated(key, (*target).Pos)
		return false
	}
	*target = text
	return true
}

func (a *args) addBind(b Bind, d *Declarations) {
	if i := slices.IndexFunc(d.Binds, func(o Bind) bool { return o.Param.Value == b.Param.Value }); i >= 0 {
		a.repeated(b.Param, d.Binds[i].Param.Pos)
		return
	}
	d.Binds = append(d.Binds, b)
}

func parseRequire(a *args, name Name, d *Declarations) {
	p, ok := a.problem(requireStatus)
	if !ok {
		return
	}
	if i := slices.IndexFunc(d.Requires, func(r Require) bool { return r.Column.Value == name.Value }); i >= 0 {
		a.repeated(name, d.Requires[i].Column.Pos)
		return
	}
	d.Requires = append(d.Requires, Require{Column: name, Problem: p})
}

func parseStatus(a *args, name Name, d *Declarations) {
	f, ok := a.need("a status")
	if !ok {
		return
	}
	n, ok := a.status(f, diag.ProblemForm, keptStatus)
	if a.rest(); !ok || a.failed {
		return
	}
	if i := slices.IndexFunc(d.Statuses, func(s Status) bool { return s.Column.Value == name.Value }); i >= 0 {
		a.repeated(name, d.Statuses[i].Column.Pos)
		return
	}
	d.Statuses = append(d.Statuses, Status{Column: name, Status: n})
}

func parseEmpty(a *args, d *Declarations) {
	p, ok := a.problem(emptyStatus)
	if !ok {
		return
	}
	if emptyFine(p.Status) && (p.Code != "" || p.Title != "") {
		a.fail(diag.ProblemForm, p.Pos, "status %d says that no row is fine; it has no code and no title", p.Status)
		return
	}
	d.Empty = &Empty{Problem: p}
}

func parseError(a *args, name Name, d *Declarations) {
	name.Value = unquoteName(name.Value)
	p, ok := a.problem(errorStatus)
	if !ok {
		return
	}
	if i := slices.IndexFunc(d.Errors, func(e ErrorRule) bool { return e.Name.Value == name.Value }); i >= 0 {
		a.repeated(name, d.Errors[i].Name.Pos)
		return
	}
	d.Errors = append(d.Errors, ErrorRule{Name: name, Problem: p})
}

// isConstraint reports whether s can name a constraint, or is a SQLSTATE (which
// may begin with a digit).
func isConstraint(s string) bool { return isIdent("_"+s) || isTable(s) && !strings.Contains(s, ".") }

func parseOmit(a *args, d *Declarations) {
	for _, f := range a.list() {
		name := a.named(f)
		if inner, ok := unquote(f.text); ok && f.text[0] == '"' {
			name.Value = inner // the alias as SQL writes it: "customer.name"
		}
		if !isDotted(name.Value) {
			entry := a.fail(diag.AnnotationForm, name.Pos, "%q is not the name of a column", name.Value)
			if words := strings.Fields(name.Value); len(words) > 1 && isDotted(strings.Join(words, "")) {
				entry.Hint("part columns with commas: %s", strings.Join(words, ", "))
			}
			return
		}
		if first := named(d.Omit, name.Value); first != nil {
			a.repeated(name, first.Pos)
			return
		}
		d.Omit = append(d.Omit, name)
	}
}

// named finds a name in a list, nil if it is not there.
func named(list []Name, value string) *Name {
	i := slices.IndexFunc(list, func(n Name) bool { return n.Value == value })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// list cuts the whole text at commas outside quotes; it reports an empty
// element, and an empty list.
func (a *args) list() []field {
	s := a.text.Value
	var out []field
	for i := 0; i <= len(s); {
		end := i
		for end < len(s) && s[end] != ',' {
			if s[end] == '"' || s[end] == '\'' {
				end = max(end, quoteEnd(s, end))
			}
			end++
		}
		element := strings.TrimSpace(s[i:end])
		if element == "" {
			a.fail(diag.AnnotationForm, a.at(min(i, max(len(s)-1, 0)), 1), "%s lists nothing here", a.name())
			return nil
		}
		out = append(out, field{text: element, offset: i + strings.Index(s[i:end], element)})
		i = end + 1
	}
	return out
}

package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/model"
)

// oneLine keeps a text on one line, without control characters.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// inputName is an input as annotations write it.
func inputName(in *model.Input) string {
	if in.Name == "" {
		return string(in.From)
	}
	return string(in.From) + "." + in.Name
}

// sourceText is a source as annotations write it.
func sourceText(s model.Source) string {
	switch s.Kind {
	case model.SourceInput:
		return inputName(s.Input)
	case model.SourceHas:
		return "has(" + inputName(s.Input) + ")"
	case model.SourceLiteral:
		return "'" + oneLine(s.Literal) + "'"
	case model.SourceStep:
		return s.Step + "." + s.Column
	case model.SourceItem:
		return "item." + s.Member
	}
	return string(s.Kind)
}

func input(in *model.Input) Input {
	out := Input{Name: inputName(in), Type: typeText(in.Type), Required: in.Required, Nullable: in.Nullable}
	if in.Default != nil {
		out.Default = oneLine(*in.Default)
	}
	for _, c := range in.Type.Checks {
		out.Checks = append(out.Checks, checkText(c))
	}
	if len(in.Type.Enum) > 0 {
		out.Checks = append(out.Checks, "one of "+oneLine(strings.Join(in.Type.Enum, ", ")))
	}
	for _, m := range in.Type.Members {
		out.Checks = append(out.Checks, memberRules(m)...)
	}
	return out
}

// memberRules tell the members of a record, so that a change of one is seen.
func memberRules(m model.Member) []string {
	first := m.Name + ": " + typeText(m.Type)
	if m.Required {
		first += ", required"
	}
	out := []string{first}
	for _, c := range m.Type.Checks {
		out = append(out, m.Name+" "+checkText(c))
	}
	return out
}

// typeText is a type's SQL name, or its kind where it has none.
func typeText(t model.Type) string {
	name := t.Name
	if name == "" {
		name = strings.ToLower(string(t.Kind))
	}
	if t.Length > 0 && !strings.Contains(name, "(") {
		name += fmt.Sprintf("(%d)", t.Length)
	}
	if t.Array && !strings.HasSuffix(name, "[]") {
		name += "[]"
	}
	if t.List {
		name += " (list)"
	}
	return oneLine(name)
}

func checkText(c model.Check) string {
	signs := map[model.CheckOp]string{
		model.CheckMin: ">=", model.CheckMax: "<=", model.CheckExclusiveMin: ">", model.CheckExclusiveMax: "<",
		model.CheckMinLength: "length >=", model.CheckMaxLength: "length <=", model.CheckNotEqual: "<>", model.CheckPattern: "~",
	}
	if c.Op == model.CheckIn {
		return "one of " + oneLine(strings.Join(c.Values, ", "))
	}
	text := fmt.Sprintf("%s %s", signs[c.Op], oneLine(c.Value))
	if c.Rounded {
		text += fmt.Sprintf(" rounded to %d digits", c.Scale)
	}
	return text
}

// response lists the members of the body.
func response(svc *model.Service, op *model.Operation) []Member {
	r := memberList{svc: svc, op: op}
	r.add("", op.Response, true)
	return r.out
}

type memberList struct {
	svc *model.Service
	op  *model.Operation
	out []Member
}

func (l *memberList) add(at string, r model.Response, top bool) {
	switch r.Kind {
	case model.ResponseNone:
	case model.ResponseObject:
		for _, m := range r.Members {
			l.add(join(at, m.Name), m.Value, false)
		}
	case model.ResponseStep, model.ResponseColumn:
		i := slices.IndexFunc(l.op.Steps, func(s *model.Step) bool { return s.Name == r.Step })
		if i >= 0 {
			l.step(at, l.op.Steps[i], r, top)
		}
	}
}

func (l *memberList) step(at string, s *model.Step, r model.Response, top bool) {
	many := s.Each != nil || s.Query.Command == "many" || s.Query.Command == "batchmany"
	if top && r.Kind == model.ResponseStep {
		at = l.svc.JSON.One
		if many {
			at = l.svc.JSON.Many
		}
	}
	if many {
		at += "[]"
	}
	for _, c := range s.Query.Columns {
		switch {
		case r.Kind == model.ResponseColumn && c.Name == r.Column:
			l.out = append(l.out, Member{at, typeText(c.Type)})
		case r.Kind == model.ResponseStep && !hidden(s, c.Name):
			l.column(at, s, c)
		}
	}
}

func (l *memberList) column(at string, s *model.Step, c model.Column) {
	if c.Embed == nil {
		l.out = append(l.out, Member{join(at, memberName(c)), typeText(c.Type)})
		return
	}
	for _, e := range c.Embed {
		if !hidden(s, c.Name+"."+e.Name) {
			l.out = append(l.out, Member{join(join(at, memberName(c)), memberName(e)), typeText(e.Type)})
		}
	}
}

func memberName(c model.Column) string {
	if c.JSON != "" {
		return c.JSON
	}
	return c.Name
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// hidden reports whether a column is not shown: @omit, @require and @status.
// Names are compared in any JSON case, as the plan does.
func hidden(s *model.Step, column string) bool {
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	names := slices.Clone(s.Omit)
	for _, r := range s.Requires {
		names = append(names, r.Column)
	}
	for _, r := range s.Statuses {
		names = append(names, r.Column)
	}
	return slices.ContainsFunc(names, func(n string) bool { return plain(n) == plain(column) })
}

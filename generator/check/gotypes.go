package check

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// typeNames are those that a misspelt type is compared with.
var typeNames = []string{"boolean", "smallint", "int", "integer", "bigint", "numeric", "real", "double precision", "text", "varchar",
	"uuid", "timestamptz", "timestamp", "date", "time", "interval", "bytea", "json", "jsonb"}

// goType is the type of a value that a function takes from the request.
func (b *builder) goType(t *spec.GoType) (model.Type, bool) {
	if t.Name == "" {
		return b.recordType(t)
	}
	out, ok := b.sqlType(t)
	if !ok {
		return out, false
	}
	if out.Kind != model.KindText && modified(out) {
		return out, b.refuseModifier(t, out)
	}
	return out, b.goLimits(t, &out)
}

// sqlType looks a type up.
func (b *builder) sqlType(t *spec.GoType) (model.Type, bool) {
	out, ok := b.cat.Type(t.Name)
	if !ok || out.Kind == "" || out.Kind == model.KindRecord {
		entry := b.diags.Errorf(diag.TypeUnsupported, t.Pos, "%s is no type that a Go function can have", quoted(t.Name))
		if near := diag.Nearest(t.Name, typeNames); near != "" {
			entry.Hint("did you mean %s?", near)
		} else {
			entry.Hint("write a type of SQL with a JSON form, an enum or a domain: %s", strings.Join(typeNames, ", "))
		}
		return out, false
	}
	out.Nullable = t.Optional
	out.GoType = defaultGoType(out)
	return out, true
}

// modified: PostgreSQL would round or cut a value of the type.
func modified(t model.Type) bool {
	return t.Precision > 0 || strings.Contains(t.Name, "(") || strings.HasPrefix(t.Name, "bpchar")
}

func (b *builder) refuseModifier(t *spec.GoType, out model.Type) bool {
	name, _, _ := strings.Cut(out.Name, "(")
	if strings.HasPrefix(name, "bpchar") {
		name = "text"
	}
	if out.Precision > 0 { // also of a domain, whose name says nothing of it
		name = "numeric"
	}
	b.diags.Errorf(diag.TypeUnsupported, t.Pos, "%s would round or cut what the function has: no statement does", out.Name).
		Hint("write %s; the column that stores it rounds", name)
	return false
}

// recordType is an object, or a list of objects.
func (b *builder) recordType(t *spec.GoType) (model.Type, bool) {
	out := model.Type{Kind: model.KindRecord, Name: "jsonb", List: t.List, Nullable: t.Optional, GoType: plainGoType(model.KindRecord)}
	complete := b.noLimits(t, "an object")
	fields := map[string]string{}
	for _, m := range t.Members {
		if m.Type.Name == "" {
			b.diags.Errorf(diag.TypeUnsupported, m.Type.Pos, "%s is an object inside an object", m.Name.Value).
				Hint("objects are flat: make it a member of the body, or write jsonb")
			complete = false
			continue
		}
		if m.Type.Source != nil {
			b.diags.Errorf(diag.BindType, m.Type.Source.Pos, "%s comes with its object", m.Name.Value).Hint("remove source:")
		}
		member, ok := b.goType(m.Type)
		complete = complete && ok
		b.goField(fields, m.Name, goName(m.Name.Value), "the object")
		out.Members = append(out.Members, model.Member{Name: m.Name.Value, GoName: goName(m.Name.Value), Type: member, Required: !member.Nullable})
	}
	return out, complete
}

// resultType is the type of a value that a function returns.
func (b *builder) resultType(m spec.GoMember) (model.Type, bool) {
	t := m.Type
	if t.Name == "" {
		b.diags.Errorf(diag.TypeUnsupported, t.Pos, "a Go function returns plain values, and %s is an object", m.Name.Value).
			Hint("write jsonb, and return the document")
		return model.Type{}, false
	}
	out, ok := b.sqlType(t)
	switch {
	case !ok:
		return out, false
	case modified(out):
		return out, b.refuseModifier(t, out)
	}
	return out, b.noLimits(t, "what a function returns")
}

// noLimits refuses limits where a request brings nothing.
func (b *builder) noLimits(t *spec.GoType, what string) bool {
	if t.Source != nil && what != "an object" {
		b.diags.Errorf(diag.BindType, t.Source.Pos, "%s comes from nowhere else", what).Hint("remove source:")
		return false
	}
	for _, limit := range []*spec.Text{t.Min, t.Max, t.MinLength, t.MaxLength, t.Pattern} {
		if limit != nil {
			b.diags.Errorf(diag.BindType, limit.Pos, "%s has no limits: they are for single values that a request brings", what).Hint("remove it")
			return false
		}
	}
	return true
}

// goLimits adds the checks of min, max, their lengths and pattern.
func (b *builder) goLimits(t *spec.GoType, out *model.Type) bool {
	valid := true
	refuse := func(at *spec.Text, hint, message string, args ...any) {
		b.diags.Errorf(diag.BindType, at.Pos, message, args...).Hint("%s", hint)
		valid = false
	}
	add := func(op model.CheckOp, limit *spec.Text) {
		if limit == nil {
			return
		}
		if !ordered(*out) {
			refuse(limit, "for a text's length, write min_length and max_length", "min and max are for numbers, dates and times; this is %s", describe(*out))
			return
		}
		value, err := canonicalScalar(*out, limit.Value)
		if err != nil {
			refuse(limit, "write a value of the type", "%s does not fit %s: %v", quoted(limit.Value), describe(*out), err)
			return
		}
		out.Checks = addChecks(out.Checks, []model.Check{{Op: op, Value: value}}, "")
	}
	addLength := func(op model.CheckOp, limit *spec.Text) {
		if limit == nil {
			return
		}
		n, err := strconv.Atoi(limit.Value)
		if err != nil || n < 0 || out.Array || out.Kind != model.KindText && out.Kind != model.KindBytea {
			refuse(limit, "write max_length: 200 on a text or bytea", "%s is no length of %s", quoted(limit.Value), describe(*out))
			return
		}
		out.Checks = addChecks(out.Checks, []model.Check{{Op: op, Value: strconv.Itoa(n)}}, "")
	}
	add(model.CheckMin, t.Min)
	add(model.CheckMax, t.Max)
	addLength(model.CheckMinLength, t.MinLength)
	addLength(model.CheckMaxLength, t.MaxLength)
	if t.Pattern != nil {
		if _, err := regexp.Compile(t.Pattern.Value); err != nil || out.Kind != model.KindText || out.Array {
			refuse(t.Pattern, "write a regular expression in Go's syntax, on a text", "%s is no pattern of %s", quoted(t.Pattern.Value), describe(*out))
		} else {
			out.Checks = addChecks(out.Checks, []model.Check{{Op: model.CheckPattern, Value: t.Pattern.Value}}, "")
		}
	}
	if first, second, none := nothingFits(*out); valid && none {
		b.diags.Errorf(diag.BindType, t.Pos, "no value can be right: it %s, and it %s", demand(first), demand(second)).
			Hint("correct one of the two, or every request is refused")
		return false
	}
	return valid
}

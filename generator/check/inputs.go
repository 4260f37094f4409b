package check

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// inputSource makes the source of a parameter that a value of the request
// fills. Bind is nil where the default place is taken.
func (b *builder) inputSource(key inputKey, step *model.Step, p model.Param, pos diag.Pos, bind *spec.Bind) model.Source {
	t := b.inputType(step.Query, p)
	if bind != nil {
		t.Checks = addChecks(t.Checks, limits(bind, t), "")
	}
	if key.from == model.FromBody && key.name == "" {
		b.wholeBody(p, pos)
	}
	b.placeFits(key, t, p, pos)
	in := b.input(key, t, pos, p.Name)
	if bind != nil {
		b.bounded = append(b.bounded, bounded{bind: bind, in: in, def: b.defaultText(bind, in, t, p)})
	}
	return model.Source{Kind: model.SourceInput, Input: in}
}

// defaultText gives an input its default; nil if it has none, or it is refused.
func (b *builder) defaultText(bind *spec.Bind, in *model.Input, t model.Type, p model.Param) *string {
	if bind.Default == nil {
		return nil
	}
	text, err := canonical(t, bind.Default.Value)
	switch {
	case err != nil:
		b.diags.Errorf(diag.BindType, bind.Default.Pos, "the default %s does not fit @%s, which is %s: %v",
			quoted(bind.Default.Value), p.Name, describe(t), err).Hint("write a value of the parameter's type that a request could send")
	case in.Default != nil && *in.Default != text:
		b.diags.Errorf(diag.BindType, bind.Default.Pos, "%s has the default %s here and %s elsewhere in this operation", sourceText(bind.Source), quoted(text), quoted(*in.Default)).
			Hint("give it one default, or bind the parameters to two members")
	default:
		in.Default = &text
		return in.Default
	}
	if in.Default == nil {
		in.Default = &text // refused: it must not be missing on top
	}
	return nil
}

// input finds or adds an input. A value used twice obeys the rules of both uses.
func (b *builder) input(key inputKey, t model.Type, pos diag.Pos, param string) *model.Input {
	in := b.inputs[key]
	if in == nil {
		in = &model.Input{From: key.from, Name: key.name, GoName: goPath(key.name), Type: t, Pos: pos}
		if key.name == "" {
			in.GoName = "Body"
		}
		b.inputs[key] = in
		return in
	}
	if !mergeType(&in.Type, t) {
		b.diags.Errorf(diag.BindType, pos, "%s is %s here and %s elsewhere in this operation", key, describe(t), describe(in.Type)).
			Hint("cast one parameter in its SQL, as in @%s::%s, or bind it to another member", param, in.Type.Name)
	}
	return in
}

// String is the source that names the input.
func (k inputKey) String() string {
	if k.name == "" {
		return string(k.from)
	}
	return string(k.from) + "." + k.name
}

// wholeBody checks `body` alone.
func (b *builder) wholeBody(p model.Param, pos diag.Pos) {
	b.op.BodyWhole = true
	if (p.Type.Kind != model.KindJSON && p.Type.Kind != model.KindBytea) || p.Type.Array {
		b.diags.Errorf(diag.BindType, pos, "the whole body is a document, but @%s is %s", p.Name, describe(p.Type)).
			Hint("use a json, jsonb or bytea parameter, or bind body.%s", p.Name)
	}
}

// placeFits checks that a type can be written where it is to come from.
func (b *builder) placeFits(key inputKey, t model.Type, p model.Param, pos diag.Pos) {
	structured := t.Kind == model.KindJSON || t.Kind == model.KindRecord
	if key.from == model.FromBody || !structured && (!t.Array || key.from != model.FromPath) {
		return
	}
	b.diags.Errorf(diag.BindType, pos, "%s is text, but @%s is %s", key, p.Name, describe(t)).
		Hint("bind it to a member of the body, in a POST, PUT or PATCH operation")
}

// list is the input of each:, a list of objects in the body.
func (b *builder) list(src spec.Source) *model.Input {
	key, ok := b.requestKey(src)
	if !ok {
		return nil
	}
	return b.input(key, model.Type{Kind: model.KindRecord, Name: "jsonb", List: true,
		GoType: plainGoType(model.KindRecord)}, src.Pos, "list")
}

// itemSource is a member of the element that an each: step runs for.
func (b *builder) itemSource(sd *stepDecl, step *model.Step, p model.Param, bind *spec.Bind) model.Source {
	src := bind.Source
	switch {
	case sd.each == nil:
		b.diags.Errorf(diag.StepOrder, src.Pos, "%s stands in a step without each:", sourceText(src)).
			Hint("add each: body.NAME to the step, or use body.NAME")
		return model.Source{}
	case step.Each == nil:
		return model.Source{} // refused already
	case len(src.Path) != 1:
		b.diags.Errorf(diag.BindUnknown, src.Pos, "%s is not a member of an element", sourceText(src)).
			Hint("write item.NAME: elements are flat objects")
		return model.Source{}
	case bind.Default != nil:
		return model.Source{} // refused already
	}
	t := b.inputType(step.Query, p)
	t.Checks = addChecks(t.Checks, limits(bind, t), "")
	b.bounded = append(b.bounded, bounded{bind: bind, in: step.Each, member: src.Path[0]})
	if t.Kind == model.KindRecord {
		t.Kind, t.Members, t.List = model.KindJSON, nil, false
	}
	name := strings.Join(src.Path, ".")
	member := model.Member{Name: name, GoName: goName(name), Type: t, Required: !t.Nullable}
	if !mergeMembers(&step.Each.Type, model.Type{Members: []model.Member{member}}) {
		b.diags.Errorf(diag.BindType, src.Pos, "%s is %s here and another type elsewhere", sourceText(src), describe(t)).
			Hint("cast one parameter in its SQL")
	}
	return model.Source{Kind: model.SourceItem, Input: step.Each, Member: name}
}

package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// asked is an argument has(body.NAME).
type asked struct {
	step *model.Step
	arg  int
	src  spec.Source
}

// argument finds where a parameter comes from: the nearest bind, else a path
// parameter of its name, else the body or the query string.
func (b *builder) argument(sd *stepDecl, step *model.Step, p model.Param) model.Source {
	bind := b.bindOf(sd, p.Name)
	if bind == nil {
		return b.implicit(sd, step, p)
	}
	b.boundValue(bind, step, p)
	return b.source(sd, step, p, bind)
}

func (b *builder) bindOf(sd *stepDecl, param string) *spec.Bind {
	lists := [][]spec.Bind{sd.binds, b.d.words.Binds, b.in.Config.Bind}
	for _, list := range lists {
		for i := range list {
			if list[i].Param.Value == param {
				return &list[i]
			}
		}
	}
	return nil
}

func (b *builder) implicit(sd *stepDecl, step *model.Step, p model.Param) model.Source {
	pos := sd.paramPos(p.Name)
	for _, name := range []string{p.Name, b.cased(p.Name)} {
		if slices.Contains(b.pathParams, name) {
			return b.inputSource(inputKey{model.FromPath, name}, step, p, pos, nil)
		}
	}
	if !hasBody(b.op.Method) {
		return b.inputSource(inputKey{model.FromQuery, b.cased(p.Name)}, step, p, pos, nil)
	}
	return b.inputSource(inputKey{model.FromBody, b.cased(p.Name)}, step, p, pos, nil)
}

// unknownBinds refuses binds of parameters that the statement doesn't have.
func (b *builder) unknownBinds(sd *stepDecl, q *model.Query) {
	names := make([]string, len(q.Params))
	for i, p := range q.Params {
		names[i] = p.Name
	}
	for _, bind := range sd.binds {
		if !slices.Contains(names, bind.Param.Value) {
			b.diags.Errorf(diag.BindUnknown, bind.Param.Pos, "%s has no parameter @%s", q.Name, bind.Param.Value).
				Hint("%s", didYouMean(bind.Param.Value, names, "parameter"))
		}
	}
}

// unknownOperationBinds refuses binds of an endpoint that none of its steps takes.
func (b *builder) unknownOperationBinds() {
	var names []string
	for _, step := range b.op.Steps {
		for _, p := range step.Query.Params {
			names = append(names, p.Name)
		}
	}
	for _, bind := range b.d.words.Binds {
		if b.d.spec && !slices.Contains(names, bind.Param.Value) {
			b.diags.Errorf(diag.BindUnknown, bind.Param.Pos, "no step of %s has a parameter @%s", b.op.Name, bind.Param.Value).
				Hint("%s", didYouMean(bind.Param.Value, slices.Compact(slices.Sorted(slices.Values(names))), "parameter"))
		}
	}
}

// boundValue checks default=, min= and max= of a bind.
func (b *builder) boundValue(bind *spec.Bind, step *model.Step, p model.Param) {
	request := slices.Contains([]spec.SourceKind{spec.SourceBody, spec.SourceQuery, spec.SourceHeader}, bind.Source.Kind)
	if bind.Default != nil && (!request || len(bind.Source.Path) == 0) {
		b.diags.Errorf(diag.BindType, bind.Default.Pos, "%s can't have a default", sourceText(bind.Source)).
			Hint("remove default=; it is for members of the body, query parameters and headers")
	}
	b.limitForm(bind, p)
}

// resolveAsked gives has(…) its inputs, once every value is known.
func (b *builder) resolveAsked() {
	for _, a := range b.asked {
		name := strings.Join(a.src.Path, ".")
		in := b.inputs[inputKey{model.FromBody, name}]
		if in == nil {
			b.diags.Errorf(diag.BindUnknown, a.src.Pos, "has(body.%s) asks for a member that no parameter takes", name).
				Hint("%s", didYouMean(name, b.inputNames(model.FromBody), "member of the body"))
			continue
		}
		in.HasAsked = true
		a.step.Args[a.arg] = model.Source{Kind: model.SourceHas, Input: in}
	}
}

func (b *builder) inputNames(from model.InputFrom) []string {
	var names []string
	for key := range b.inputs {
		if key.from == from {
			names = append(names, key.name)
		}
	}
	slices.Sort(names)
	return names
}

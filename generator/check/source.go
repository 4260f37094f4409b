package check

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// source resolves the source of a bind for parameter p.
func (b *builder) source(sd *stepDecl, step *model.Step, p model.Param, bind *spec.Bind) model.Source {
	src := bind.Source
	switch src.Kind {
	case spec.SourceBody, spec.SourcePath, spec.SourceQuery, spec.SourceHeader:
		key, ok := b.requestKey(src)
		if !ok {
			return model.Source{}
		}
		return b.inputSource(key, step, p, src.Pos, bind)
	case spec.SourceCaller:
		return b.callerSource(src, p)
	case spec.SourceHas:
		return b.askedSource(step, p, src)
	case spec.SourceStep:
		return b.stepSource(step, p, src)
	case spec.SourceItem:
		return b.itemSource(sd, step, p, bind)
	}
	return b.madeSource(step, p, src)
}

// requestKey is the input that a source of the request names.
func (b *builder) requestKey(src spec.Source) (inputKey, bool) {
	name := strings.Join(src.Path, ".")
	if b.notOfMessage(src) {
		return inputKey{}, false
	}
	switch src.Kind {
	case spec.SourceBody:
		if hasBody(b.op.Method) {
			return inputKey{model.FromBody, name}, true
		}
		b.diags.Errorf(diag.BindUnknown, src.Pos, "a %s request has no body", b.op.Method).
			Hint("use query.%s", cmpOr(name, "NAME"))
	case spec.SourcePath:
		if slices.Contains(b.pathParams, name) {
			return inputKey{model.FromPath, name}, true
		}
		b.diags.Errorf(diag.BindUnknown, src.Pos, "the path %s has no parameter {%s}", b.op.Path, name).
			Hint("%s", didYouMean(name, b.pathParams, "path parameter"))
	case spec.SourceQuery:
		return inputKey{model.FromQuery, name}, true
	case spec.SourceHeader:
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !strings.HasPrefix(name, "Idempotency-") && !strings.HasPrefix(name, "X-Idempotency-") {
			return inputKey{model.FromHeader, name}, true
		}
		b.diags.Errorf(diag.BindUnknown, src.Pos, "the header %s is the key's own", name).Hint("use the source `key`")
	}
	return inputKey{}, false
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (b *builder) callerSource(src spec.Source, p model.Param) model.Source {
	if b.noCaller(src) {
		return model.Source{}
	}
	in := b.callerField(src.Path[0], p.Type, src.Pos)
	b.inputs[inputKey{model.FromCaller, in.Name}] = in
	return model.Source{Kind: model.SourceInput, Input: in}
}

func (b *builder) askedSource(step *model.Step, p model.Param, src spec.Source) model.Source {
	if !hasBody(b.op.Method) {
		b.diags.Errorf(diag.BindUnknown, src.Pos, "a %s request has no body to ask about", b.op.Method).Hint("use POST, PUT or PATCH")
		return model.Source{}
	}
	if p.Type.Kind != model.KindBool || p.Type.Array {
		b.diags.Errorf(diag.BindType, src.Pos, "has() is a boolean, but @%s is %s", p.Name, describe(p.Type)).
			Hint("write @%s::boolean in the SQL", p.Name)
		return model.Source{}
	}
	b.asked = append(b.asked, asked{step, p.Number - 1, src})
	return model.Source{Kind: model.SourceHas}
}

// stepSource is a column of an earlier step's row.
func (b *builder) stepSource(step *model.Step, p model.Param, src spec.Source) model.Source {
	from := b.earlier(src)
	if from == nil {
		return model.Source{}
	}
	name := strings.Join(src.Path[1:], ".")
	col := columnNamed(from.Query, name)
	switch {
	case col == nil && from.Go != nil:
		b.diags.Errorf(diag.ColumnUnknown, src.Pos, "the Go step %s returns no %s", from.Name, quoted(name)).
			Hint("%s; or declare it: returns: {%s: %s}", didYouMean(name, columnNames(from.Query), "result"), name, p.Type.Name)
		return model.Source{}
	case col == nil:
		b.diags.Errorf(diag.ColumnUnknown, src.Pos, "step %s returns no column %s", from.Name, quoted(name)).
			Hint("%s", didYouMean(name, columnNames(from.Query), "column"))
		return model.Source{}
	case from.Each != nil || from.Query.Command != "one":
		b.diags.Errorf(diag.StepOrder, src.Pos, "step %s does not return exactly one row", from.Name).
			Hint("only a column of a :one step without each: can be bound")
	case len(col.Embed) > 0 || !assignable(col.Type, p.Type):
		b.diags.Errorf(diag.BindType, src.Pos, "%s is %s, but @%s is %s", sourceText(src), describe(col.Type), p.Name, describe(p.Type)).
			Hint("cast one of them in its SQL")
	}
	return model.Source{Kind: model.SourceStep, Step: from.Name, Column: name}
}

// earlier finds the step that a source names, among those before this one.
func (b *builder) earlier(src spec.Source) *model.Step {
	if !b.d.spec {
		b.diags.Errorf(diag.StepOrder, src.Pos, "%s is not a source: a single statement has no other steps", sourceText(src)).
			Hint("use body.NAME, path.NAME, query.NAME, header.NAME or caller.NAME; a text goes in quotes: 'text'")
		return nil
	}
	var names []string
	for _, s := range b.op.Steps {
		if len(src.Path) > 0 && s.Name == src.Path[0] {
			return s
		}
		names = append(names, s.Name)
	}
	name := strings.Join(src.Path, ".")
	if len(src.Path) > 0 {
		name = src.Path[0]
	}
	for _, sd := range b.d.steps {
		if sd.name == name {
			b.diags.Errorf(diag.StepOrder, src.Pos, "step %s has not run yet here", name).
				Hint("a step can use only the ones above it")
			return nil
		}
	}
	b.diags.Errorf(diag.StepOrder, src.Pos, "no step is named %s", name).Hint("%s", didYouMean(name, names, "earlier step"))
	return nil
}

// assignable reports whether a value of one type can be bound to another
// without a loss.
func assignable(from, to model.Type) bool {
	if from.Array != to.Array {
		return false
	}
	if from.Kind == to.Kind {
		return true
	}
	wider := map[model.Kind][]model.Kind{
		model.KindInt2:   {model.KindInt4, model.KindInt8, model.KindNumeric},
		model.KindInt4:   {model.KindInt8, model.KindNumeric},
		model.KindInt8:   {model.KindNumeric},
		model.KindFloat4: {model.KindFloat8},
	}
	return slices.Contains(wider[from.Kind], to.Kind)
}

// madeSource is a value that the server makes.
func (b *builder) madeSource(step *model.Step, p model.Param, src spec.Source) model.Source {
	fits := func(kinds ...model.Kind) bool {
		if slices.Contains(kinds, p.Type.Kind) && !p.Type.Array {
			return true
		}
		b.diags.Errorf(diag.BindType, src.Pos, "%s does not fit @%s, which is %s", sourceText(src), p.Name, describe(p.Type)).
			Hint("cast the parameter in the SQL, or bind it to another source")
		return false
	}
	switch src.Kind {
	case spec.SourceNow:
		fits(model.KindTimestamptz, model.KindTimestamp, model.KindDate)
		return model.Source{Kind: model.SourceNow}
	case spec.SourceUUID4:
		fits(model.KindUUID, model.KindText)
		return model.Source{Kind: model.SourceUUID4}
	case spec.SourceUUID7:
		fits(model.KindUUID, model.KindText)
		return model.Source{Kind: model.SourceUUID7}
	case spec.SourceKey:
		fits(model.KindText)
		b.keyUses = append(b.keyUses, src)
		return model.Source{Kind: model.SourceKey}
	case spec.SourceScope:
		fits(model.KindText, model.KindUUID, model.KindInt2, model.KindInt4, model.KindInt8)
		return b.scopeSource(src)
	case spec.SourceLiteral:
		return b.literalSource(step, p, src)
	}
	b.diags.Errorf(diag.BindUnknown, src.Pos, "%s is not a source", sourceText(src)).
		Hint("sources are body.NAME, body, path.NAME, query.NAME, header.NAME, caller.NAME, scope, key, has(body.NAME), now, uuid4, uuid7 and 'literal'")
	return model.Source{}
}

func (b *builder) scopeSource(src spec.Source) model.Source {
	if b.svc.ScopeSource.Kind == model.SourceNone {
		b.diags.Errorf(diag.BindUnknown, src.Pos, "the service has no scope").
			Hint("set scope: caller.NAME in the configuration")
	}
	return model.Source{Kind: model.SourceScope}
}

// literalSource is a constant. It obeys the rules of the column that it is
// stored in, else every request would fail.
func (b *builder) literalSource(step *model.Step, p model.Param, src spec.Source) model.Source {
	t := b.inputType(step.Query, p)
	if t.Kind != p.Type.Kind { // a list of objects: any document
		t = p.Type
	}
	text, err := canonical(t, src.Text)
	if err != nil {
		b.diags.Errorf(diag.BindType, src.Pos, "'%s' does not fit @%s, which is %s: %v", src.Text, p.Name, describe(p.Type), err).
			Hint("write a value of the parameter's type that its column takes")
	}
	return model.Source{Kind: model.SourceLiteral, Literal: text}
}

func columnNamed(q *model.Query, name string) *model.Column {
	for i := range q.Columns {
		if q.Columns[i].Name == name {
			return &q.Columns[i]
		}
	}
	return nil
}

func columnNames(q *model.Query) []string {
	names := make([]string, len(q.Columns))
	for i, c := range q.Columns {
		names[i] = c.Name
	}
	return names
}

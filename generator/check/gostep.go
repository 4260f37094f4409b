package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// goStep is a step of Go: to the rest of the generator a query whose parameters
// are what the function takes, and whose row is what it returns.
func (b *builder) goStep(sd *stepDecl) *model.Step {
	q := &model.Query{Name: sd.name, Command: "one", File: sd.pos.File, Pos: sd.pos}
	if len(sd.call.Returns) == 0 {
		q.Command = "exec"
	}
	fields := map[string]string{}
	for _, m := range sd.call.Returns {
		t, ok := b.resultType(m)
		if !ok {
			continue
		}
		col := model.Column{Name: m.Name.Value, JSON: b.cased(m.Name.Value), GoName: goName(m.Name.Value), Type: t}
		b.goField(fields, m.Name, col.GoName, sd.call.Func.Value)
		q.Columns = append(q.Columns, col)
	}
	fn := &model.GoStep{Func: sd.call.Func.Value, Whole: sd.call.Whole, Call: outsideCall(sd.call)}
	if fn.Call == nil {
		fn.Package, fn.DBArgument = b.goPackage()
	}
	return &model.Step{Name: sd.name, Pos: sd.pos, Query: q, Go: fn}
}

func (b *builder) goField(seen map[string]string, name spec.Name, field, function string) {
	if other, ok := seen[field]; ok {
		b.diags.Errorf(diag.NameCollision, name.Pos, "%s and %s of %s are both the Go field %s", other, name.Value, function, field).
			Hint("give one of them another name")
	}
	seen[field] = name.Value
}

// goPackage is the package whose Queries a function gets: that of the operation's
// queries, else the service's first.
func (b *builder) goPackage() (model.GoPackage, bool) {
	var entry *sqlcrun.Entry
	for i := range b.d.steps {
		if q := b.d.steps[i].query; entry == nil && q != nil && q.src != nil {
			entry = q.src.Entry
		}
	}
	if entry == nil && len(b.in.Entries) > 0 {
		entry = b.in.Entries[0]
	}
	if entry == nil {
		return model.GoPackage{}, false
	}
	return entry.Package, entry.MethodsTakeDB()
}

// goArguments finds where the values come from that the functions take, once the
// queries have said what the request has. Types come first: a source may name a
// member that another function has the type of.
func (b *builder) goArguments() {
	all := b.op.Steps
	for i, step := range all {
		if step.Go != nil {
			b.op.Steps = all[:i]
			b.goParams(&b.d.steps[i], step)
		}
	}
	for i, step := range all {
		if step.Go == nil {
			continue
		}
		b.op.Steps = all[:i] // a source may name these
		sd := &b.d.steps[i]
		for n, m := range sd.call.Request {
			if b.isGoSource(m) {
				b.goSource(sd, step, n, m)
			}
		}
	}
	b.op.Steps = all
}

// goParams adds the parameters, and resolves those that have a type.
func (b *builder) goParams(sd *stepDecl, step *model.Step) {
	fields := map[string]string{}
	for n, m := range sd.call.Request {
		b.goField(fields, m.Name, goName(m.Name.Value), step.Go.Func)
		p := model.Param{Number: n + 1, Name: m.Name.Value}
		arg := model.Source{}
		if b.isGoSource(m) {
			sd.binds = append(sd.binds, spec.Bind{Param: m.Name, Source: *m.Source})
		} else if t, ok := b.goType(m.Type); ok {
			if m.Type.Source != nil {
				sd.binds = append(sd.binds, spec.Bind{Param: m.Name, Source: *m.Type.Source})
			}
			p.Type = t
			arg = b.argument(sd, step, p)
		}
		step.Query.Params, step.Args = append(step.Query.Params, p), append(step.Args, arg)
	}
}

// isGoSource tells STEP.COLUMN from a type with its schema.
func (b *builder) isGoSource(m spec.GoMember) bool {
	if m.Source == nil || m.Type == nil {
		return m.Source != nil
	}
	if slices.ContainsFunc(b.d.steps, func(sd stepDecl) bool { return sd.name == m.Source.Path[0] }) {
		return true
	}
	_, isType := b.cat.Type(m.Type.Name)
	return !isType
}

// goSource resolves one value that comes from elsewhere, which says its type.
func (b *builder) goSource(sd *stepDecl, step *model.Step, n int, m spec.GoMember) {
	t, ok := b.sourceType(*m.Source, m.Name.Value)
	if !ok {
		return
	}
	p := &step.Query.Params[n]
	p.Type = t
	step.Args[n] = b.argument(sd, step, *p)
}

// sourceType is the type of what a source gives.
func (b *builder) sourceType(src spec.Source, name string) (model.Type, bool) {
	switch src.Kind {
	case spec.SourceBody, spec.SourcePath, spec.SourceQuery, spec.SourceHeader:
		return b.requestType(src, name)
	case spec.SourceStep:
		from := b.earlier(src)
		if from == nil {
			return model.Type{}, false
		}
		col := columnNamed(from.Query, strings.Join(src.Path[1:], "."))
		if col == nil {
			return model.Type{Kind: model.KindText, Name: "text"}, true // stepSource reports it
		}
		t := col.Type
		if b.mayLackRow(from) && !t.Nullable {
			t.Nullable = true
			t.GoType = defaultGoType(t)
		}
		return t, true
	case spec.SourceCaller:
		return model.Type{}, true // what the service's other uses say
	case spec.SourceHas:
		return plainType(model.KindBool, "boolean"), true
	case spec.SourceNow:
		return plainType(model.KindTimestamptz, "timestamptz"), true
	case spec.SourceUUID4, spec.SourceUUID7:
		return plainType(model.KindUUID, "uuid"), true
	case spec.SourceItem:
		b.diags.Errorf(diag.StepOrder, src.Pos, "%s exists only in a query step with each:", sourceText(src)).
			Hint("give the function the list: request: {items: [{sku: text, qty: int}]}")
		return model.Type{}, false
	}
	return plainType(model.KindText, "text"), true // scope, key, 'literal'
}

func plainType(kind model.Kind, name string) model.Type {
	return model.Type{Kind: kind, Name: name, GoType: plainGoType(kind)}
}

// mayLackRow: a step whose missing row is fine leaves its columns null.
func (b *builder) mayLackRow(step *model.Step) bool {
	empty := b.declaredStep(step.Name).words.Empty
	return empty != nil && (empty.Problem.Status < 300 || empty.Problem.Status == 304)
}

func (b *builder) declaredStep(name string) *stepDecl {
	return &b.d.steps[slices.IndexFunc(b.d.steps, func(sd stepDecl) bool { return sd.name == name })]
}

// requestType is the type that another step gives a value of the request.
func (b *builder) requestType(src spec.Source, name string) (model.Type, bool) {
	key, ok := b.requestKey(src)
	if !ok {
		return model.Type{}, false
	}
	if in := b.inputs[key]; in != nil {
		return in.Type, true
	}
	if key.name == "" {
		return plainType(model.KindJSON, "jsonb"), true
	}
	b.diags.Errorf(diag.BindType, src.Pos, "nothing says the type of %s", sourceText(src)).
		Hint("write it: %s: {type: bigint, source: %s}", name, sourceText(src))
	return model.Type{}, false
}

// wholeInputs gives the functions that take the operation's own input all of it.
func (b *builder) wholeInputs() {
	for _, step := range b.op.Steps {
		if step.Go == nil || !step.Go.Whole {
			continue
		}
		for _, in := range b.op.Inputs {
			if in.From == model.FromCaller {
				continue
			}
			step.Query.Params = append(step.Query.Params, model.Param{Number: len(step.Args) + 1, Name: in.Name, Type: in.Type})
			step.Args = append(step.Args, model.Source{Kind: model.SourceInput, Input: in})
		}
	}
}

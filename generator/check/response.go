package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// response settles what the body is made of. Hidden columns are known first.
func (b *builder) response() {
	for i, step := range b.op.Steps {
		for _, name := range b.d.steps[i].words.Omit {
			if !hasColumn(step.Query, name.Value) {
				b.diags.Errorf(diag.ColumnUnknown, name.Pos, "@omit names the column %s, which %s does not return", name.Value, step.Query.Name).
					Hint("%s", didYouMean(name.Value, columnNames(step.Query), "column"))
				continue
			}
			b.hiddenAlready(i, name)
			step.Omit = append(step.Omit, name.Value)
		}
	}
	switch {
	case b.d.response != nil:
		b.op.Response = b.declaredResponse(*b.d.response)
	case len(b.op.Steps) == 1 && len(b.visible(b.op.Steps[0])) > 0:
		b.op.Response = model.Response{Kind: model.ResponseStep, Step: b.op.Steps[0].Name}
		b.rowMembers(b.op.Steps[0])
	default:
		b.op.Response = model.Response{Kind: model.ResponseNone}
	}
}

// hiddenAlready warns about an @omit of what no response shows anyway.
func (b *builder) hiddenAlready(n int, name spec.Name) {
	words, why := b.d.steps[n].words, ""
	whole, _, _ := strings.Cut(name.Value, ".")
	switch {
	case slices.ContainsFunc(words.Requires, func(r spec.Require) bool { return r.Column.Value == name.Value }):
		why = "@require hides it"
	case slices.ContainsFunc(words.Statuses, func(s spec.Status) bool { return s.Column.Value == name.Value }):
		why = "@status hides it"
	case slices.ContainsFunc(words.Outbox, func(e spec.Event) bool { return e.If != nil && e.If.Value == name.Value }):
		why = "@outbox hides it"
	case whole != name.Value && slices.ContainsFunc(words.Omit, func(o spec.Name) bool { return o.Value == whole }):
		why = "@omit " + whole + " hides all of it"
	}
	if why != "" {
		b.diags.Warnf(diag.RepeatedWord, name.Pos, "@omit %s has no effect: %s", name.Value, why).Hint("remove it")
	}
}

// hasColumn reports whether a query returns the column, or EMBED.COLUMN.
func hasColumn(q *model.Query, name string) bool {
	return slices.ContainsFunc(q.Columns, func(c model.Column) bool {
		return c.Name == name || slices.ContainsFunc(c.Embed, func(e model.Column) bool { return c.Name+"."+e.Name == name })
	})
}

func (b *builder) declaredResponse(r spec.Response) model.Response {
	if r.Ref != nil {
		return b.responseRef(r)
	}
	out := model.Response{Kind: model.ResponseObject}
	seen := map[string]bool{}
	for _, m := range r.Members {
		if seen[m.Name.Value] {
			b.diags.Errorf(diag.NameCollision, m.Name.Pos, "the response has two members named %s", m.Name.Value).Hint("rename one of them")
		}
		seen[m.Name.Value] = true
		out.Members = append(out.Members, model.ResponseMember{Name: m.Name.Value, Value: b.declaredResponse(m.Value)})
	}
	return out
}

// responseRef is STEP, or STEP.COLUMN.
func (b *builder) responseRef(r spec.Response) model.Response {
	name := r.Ref[0]
	i := slices.IndexFunc(b.op.Steps, func(s *model.Step) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range b.op.Steps {
			names = append(names, s.Name)
		}
		b.diags.Errorf(diag.StepOrder, r.Pos, "the response names the step %s, which there is not", name).
			Hint("%s", didYouMean(name, names, "step"))
		return model.Response{Kind: model.ResponseNone}
	}
	step := b.op.Steps[i]
	if step.Go != nil && !commandHasRow(step.Query) {
		b.diags.Errorf(diag.ColumnUnknown, r.Pos, "the Go step %s returns nothing", name).Hint("add returns: {NAME: TYPE} to it, or name another step")
		return model.Response{Kind: model.ResponseNone}
	}
	if !commandHasRow(step.Query) {
		b.diags.Errorf(diag.ColumnUnknown, r.Pos, "step %s is :%s and returns nothing", name, step.Query.Command).
			Hint("make the query :one with RETURNING, or name another step")
		return model.Response{Kind: model.ResponseNone}
	}
	if len(r.Ref) == 1 {
		b.rowMembers(step)
		return model.Response{Kind: model.ResponseStep, Step: name}
	}
	column := strings.Join(r.Ref[1:], ".")
	switch {
	case columnNamed(step.Query, column) == nil:
		b.diags.Errorf(diag.ColumnUnknown, r.Pos, "step %s returns no column %s", name, column).
			Hint("%s", didYouMean(column, columnNames(step.Query), "column"))
	case step.Each != nil || commandIsMany(step.Query):
		b.diags.Errorf(diag.ColumnUnknown, r.Pos, "step %s returns several rows, so %s is not one value", name, column).
			Hint("name the whole step: its rows become a list")
	}
	return model.Response{Kind: model.ResponseColumn, Step: name, Column: column}
}

// visible are the columns of a step's row that a response shows.
func (b *builder) visible(step *model.Step) []model.Column {
	if !commandHasRow(step.Query) {
		return nil
	}
	words := b.declOf(step).words
	var out []model.Column
	for _, col := range step.Query.Columns {
		hidden := slices.Contains(step.Omit, col.Name) ||
			slices.ContainsFunc(words.Requires, func(r spec.Require) bool { return r.Column.Value == col.Name }) ||
			slices.ContainsFunc(words.Statuses, func(s spec.Status) bool { return s.Column.Value == col.Name }) ||
			slices.ContainsFunc(words.Outbox, func(e spec.Event) bool { return e.If != nil && e.If.Value == col.Name })
		if !hidden {
			out = append(out, col)
		}
	}
	return out
}

func (b *builder) declOf(step *model.Step) *stepDecl {
	return &b.d.steps[slices.Index(b.op.Steps, step)]
}

// rowMembers refuses two columns that would be one member of a JSON object.
func (b *builder) rowMembers(step *model.Step) {
	seen := map[string]bool{}
	for _, col := range b.visible(step) {
		if seen[col.JSON] {
			b.diags.Errorf(diag.NameCollision, step.Query.Pos, "%s returns two columns named %s", step.Query.Name, col.JSON).
				Hint("name one of them with AS, or hide it with @omit")
		}
		seen[col.JSON] = true
	}
	for name := range seen {
		for i := range name {
			if name[i] == '.' && seen[name[:i]] {
				b.diags.Errorf(diag.NameCollision, step.Query.Pos, "%s returns %s, so %s can't be in it", step.Query.Name, name[:i], name).
					Hint("name one of them with another alias")
			}
		}
	}
}

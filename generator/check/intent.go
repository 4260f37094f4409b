package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// intent gives a step its intent, and says whether the row that is there may
// be shown.
func (b *builder) intent(step *model.Step, decl *spec.Intent) {
	resolved := b.intents.resolve(decl)
	if resolved == nil {
		return
	}
	shape := &step.Query.Shape
	target := slices.ContainsFunc(shape.Writes, func(w model.TableName) bool { return sameTable(w, resolved.Table) })
	if !target || shape.Kind == model.Delete {
		b.diags.Errorf(diag.IntentColumns, decl.Pos, "%s does not insert into or update %s, so it can't meet this intent", step.Query.Name, resolved.Table.Name).
			Hint("write @intent on the statement that makes the row")
		return
	}
	in := *resolved
	in.Pos = decl.Pos
	feeds := intentFeeds(step, &in)
	scoped, fed := false, true
	for _, name := range in.Columns {
		param, ok := feeds[name]
		fed = fed && ok
		scoped = scoped || ok && b.isScope(step.Args[param-1])
	}
	in.ScopeIn = scoped && fed
	step.Intent, step.OnIntent = &in, decl.OnConflict
	if step.OnIntent == "" {
		step.OnIntent = "conflict"
	}
	if step.OnIntent == "return" {
		b.returns(step, decl, scoped, fed)
	}
}

// intentFeeds maps the intent's columns to the parameters stored in them.
func intentFeeds(step *model.Step, in *model.Intent) map[string]int {
	out := map[string]int{}
	for _, f := range step.Query.Shape.Feeds {
		if f.Assigned && f.Plain && sameTable(f.Table, in.Table) && slices.Contains(in.Columns, f.Column) {
			if _, ok := out[f.Column]; !ok && f.Param >= 1 && f.Param <= len(step.Args) {
				out[f.Column] = f.Param
			}
		}
	}
	return out
}

// returns checks that the existing row can be the answer.
func (b *builder) returns(step *model.Step, decl *spec.Intent, scoped, fed bool) {
	switch {
	case !scoped:
		b.diags.Errorf(diag.IntentReturn, decl.Pos, "`return` would show a row of another scope: the intent does not include the column that the scope is bound to").
			Hint("add that column to the intent and bind its parameter to the scope, or use conflict")
	case !fed:
		b.diags.Errorf(diag.IntentReturn, decl.Pos, "`return` has to look the row up, but not every column of the intent is a parameter as it is").
			Hint("insert each of them as @name, or use conflict")
	case step.Each != nil:
		b.diags.Errorf(diag.IntentReturn, decl.Pos, "`return` answers with one row, but this step runs once per element").
			Hint("use conflict")
	case b.op.Response.Kind != model.ResponseStep || b.op.Response.Step != step.Name || step.Query.Command != "one":
		b.diags.Errorf(diag.IntentReturn, decl.Pos, "`return` answers with the row of %s, which is not this operation's response", step.Name).
			Hint("make the query :one and the response of the operation, or use conflict")
	}
}

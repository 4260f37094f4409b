package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// rules resolves the statement words of every step.
func (b *builder) rules() {
	for i, step := range b.op.Steps {
		sd := &b.d.steps[i]
		for _, r := range sd.words.Requires {
			b.boolean(step, r.Column, "@require")
			step.Requires = append(step.Requires, model.Require{Column: r.Column.Value,
				Problem: problem(r.Problem, snake(r.Column.Value))})
		}
		b.statusRules(i, step)
		for _, s := range sd.words.Statuses {
			b.boolean(step, s.Column, "@status")
			step.Statuses = append(step.Statuses, model.StatusRule{Column: s.Column.Value, Status: s.Status})
		}
		b.empty(step, sd.words.Empty)
		b.errorRules(step, sd.words.Errors)
		if sd.words.Intent != nil {
			b.intent(step, sd.words.Intent)
		}
	}
	b.endpointErrors()
	for _, step := range b.op.Steps {
		b.checkRules(step)
	}
}

// statusRules refuses an @status that can change nothing. The first true one of
// the operation wins, so one that repeats the success status means something
// only ahead of another.
func (b *builder) statusRules(n int, step *model.Step) {
	refuse := func(s spec.Status, hint, message string, args ...any) {
		b.diags.Errorf(diag.ProblemForm, s.Column.Pos, message, args...).Hint("%s", hint)
	}
	words := b.d.steps[n].words
	later := slices.ContainsFunc(b.d.steps[n+1:], func(sd stepDecl) bool { return len(sd.words.Statuses) > 0 })
	for i, s := range words.Statuses {
		same := slices.IndexFunc(words.Statuses[:i], func(o spec.Status) bool { return o.Status == s.Status })
		switch {
		case slices.ContainsFunc(words.Requires, func(r spec.Require) bool { return r.Column.Value == s.Column.Value }):
			refuse(s, "remove one of the two; a status of every success stands in @http",
				"@status %s is always true where it is asked: @require has refused any other", s.Column.Value)
		case same >= 0:
			refuse(s, "return one column: ("+words.Statuses[same].Column.Value+" OR "+s.Column.Value+") AS name",
				"@status %d stands twice on %s", s.Status, step.Query.Name)
		case s.Status == b.op.Status && i == len(words.Statuses)-1 && !later:
			refuse(s, "remove it, or give the other case another status: the success status of @http is the answer without @status",
				"@status %s %d changes nothing: %d is the success status of %s", s.Column.Value, s.Status, s.Status, b.op.Name)
		}
	}
}

// boolean checks that a rule's column is there and can be true.
func (b *builder) boolean(step *model.Step, column spec.Name, word string) {
	col := columnNamed(step.Query, column.Value)
	switch {
	case col == nil || !commandHasRow(step.Query):
		b.diags.Errorf(diag.ColumnUnknown, column.Pos, "%s names the column %s, which %s does not return", word, column.Value, step.Query.Name).
			Hint("%s", returnHint(step.Query, column.Value))
	case col.Type.Kind != model.KindBool || col.Type.Array || len(col.Embed) > 0:
		b.diags.Errorf(diag.ColumnUnknown, column.Pos, "%s needs a boolean, but %s is %s", word, column.Value, describe(col.Type)).
			Hint("return a condition: (…) AS %s", column.Value)
	}
}

func returnHint(q *model.Query, column string) string {
	if !commandHasRow(q) {
		return "make the query :one, and return it: (…) AS " + column
	}
	if near := diag.Nearest(column, columnNames(q)); near != "" {
		return "did you mean " + near + "?"
	}
	return "return it: (…) AS " + column
}

// empty settles what no row means.
func (b *builder) empty(step *model.Step, e *spec.Empty) {
	many := commandIsMany(step.Query)
	switch {
	case step.Go != nil: // it says itself what is missing
	case e == nil && many:
		step.Empty = model.Empty{Fine: true, Status: b.op.Status}
	case e == nil:
		status := 404
		if b.op.Method == "POST" && !b.readingTool() {
			status = 409
		}
		code := emptyCode(status)
		step.Empty = model.Empty{Status: status, Problem: model.Problem{Status: status, Code: code, Title: humanised(code)}}
	case many:
		b.diags.Errorf(diag.ProblemForm, e.Problem.Pos, "@empty does nothing for :many, whose empty list is an answer").
			Hint("remove it, or make the query :one")
	case e.Problem.Status >= 200 && e.Problem.Status <= 299 || e.Problem.Status == 304:
		step.Empty = model.Empty{Fine: true, Status: e.Problem.Status}
	default:
		p := problem(e.Problem, emptyCode(e.Problem.Status))
		step.Empty = model.Empty{Status: p.Status, Problem: p}
	}
}

// endpointErrors hands an endpoint's own @error rules to every step that can
// meet them and does not say otherwise.
func (b *builder) endpointErrors() {
	for _, r := range b.d.errors {
		var steps []*model.Step
		for _, step := range b.op.Steps {
			own := slices.ContainsFunc(step.Errors, func(e model.ErrorRule) bool {
				return e.Constraint == r.Name.Value || strings.EqualFold(e.SQLState, r.Name.Value)
			})
			if !own && b.canViolate(step, r.Name.Value) {
				steps = append(steps, step)
			}
		}
		if len(steps) == 0 {
			steps = b.op.Steps[:1] // which is told that it can't
		}
		for _, step := range steps {
			b.errorRules(step, []spec.ErrorRule{r})
		}
	}
}

func (b *builder) errorRules(step *model.Step, rules []spec.ErrorRule) {
	for _, r := range rules {
		if b.goRule(step, r) {
			continue
		}
		out := model.ErrorRule{Problem: problem(r.Problem, snake(r.Name.Value)), Declared: true}
		if b.isSQLState(r.Name.Value) {
			out.SQLState = strings.ToUpper(r.Name.Value)
			b.sqlState(step, r.Name)
		} else {
			out.Constraint = r.Name.Value
			b.constraint(step, r.Name)
		}
		step.Errors = append(step.Errors, out)
	}
}

// checkRules adds the answer to the CHECKs of columns that this request feeds.
func (b *builder) checkRules(step *model.Step) {
	declared := map[string]bool{}
	for _, r := range step.Errors {
		declared[r.Constraint] = true
	}
	names := map[string]bool{}
	for _, name := range step.Query.Shape.Writes {
		table := b.cat.Table(name)
		if table == nil {
			continue
		}
		for _, check := range table.Checks {
			fed := slices.ContainsFunc(check.Columns, func(col string) bool { return feedsRequest(step, table.Name, col) })
			if fed && !declared[check.Name] {
				names[check.Name] = true
			}
		}
	}
	for _, name := range sortedKeys(names) {
		code := snake(name)
		step.Errors = append(step.Errors, model.ErrorRule{Constraint: name,
			Problem: model.Problem{Status: 422, Code: code, Title: humanised(code)}})
	}
}

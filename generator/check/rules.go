package check

import (
	"regexp"
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
	case e == nil && many:
		step.Empty = model.Empty{Fine: true, Status: b.op.Status}
	case e == nil:
		status := 404
		if b.op.Method == "POST" {
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

var sqlState = regexp.MustCompile(`^[0-9A-Za-z]{5}$`)

// retried are the SQLSTATE classes and values that the runtime answers itself:
// it tries again, or says 503 (semantics.md section 5).
var retried = []string{"40001", "40P01", "26000", "42P05", "0A000", "08", "53", "55P03", "57", "25006", "25P03"}

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
		out := model.ErrorRule{Problem: problem(r.Problem, snake(r.Name.Value)), Declared: true}
		if b.isSQLState(r.Name.Value) {
			out.SQLState = strings.ToUpper(r.Name.Value)
			b.sqlState(r.Name)
		} else {
			out.Constraint = r.Name.Value
			b.constraint(step, r.Name)
		}
		step.Errors = append(step.Errors, out)
	}
}

// isSQLState tells a SQLSTATE from a constraint's name: five letters and digits
// that no constraint is named.
func (b *builder) isSQLState(name string) bool {
	if !sqlState.MatchString(name) || !strings.ContainsAny(name, "0123456789") {
		return false
	}
	holders, _ := b.holders(name)
	return len(holders) == 0
}

func (b *builder) sqlState(name spec.Name) {
	for _, prefix := range retried {
		if strings.HasPrefix(strings.ToUpper(name.Value), prefix) {
			b.diags.Errorf(diag.ProblemForm, name.Pos, "SQLSTATE %s is a passing failure, which is tried again", name.Value).
				Hint("remove it: the client gets 503 with Retry-After if it lasts")
			return
		}
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

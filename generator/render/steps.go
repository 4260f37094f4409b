package render

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// stepWriter writes the idem.Step literals of one operation.
type stepWriter struct {
	argWriter
	plan         *plan.Operation
	bigintString bool
}

func newStepWriter(svc *model.Service, op *plan.Operation) stepWriter {
	w := stepWriter{argWriter: argWriter{op: op.Model}, plan: op, bigintString: svc.JSON.BigintString}
	for _, step := range op.Model.Steps {
		var results plan.Results
		if step.Go != nil { // every result is there for either use
			for _, col := range step.Query.Columns {
				results.JSON, results.Text = append(results.JSON, col.Name), append(results.Text, col.Name)
			}
		}
		if s := w.statement("step." + step.Name); s != nil {
			results = s.Results
		}
		w.steps = append(w.steps, results)
	}
	return w
}

func (w stepWriter) statement(name string) *plan.Statement {
	i := slices.IndexFunc(w.plan.Statements, func(s plan.Statement) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &w.plan.Statements[i]
}

// statementArgs writes the arguments of a section, "" where there is none.
func (w stepWriter) statementArgs(name string) (string, error) {
	s := w.statement(name)
	if s == nil {
		return "", nil
	}
	return w.args(s.Args)
}

func (w stepWriter) list() (string, error) {
	items := make([]string, len(w.op.Steps))
	for i, step := range w.op.Steps {
		item, err := w.step(i, step)
		if err != nil {
			return "", err
		}
		items[i] = item
	}
	return list("idem.Step", items), nil
}

func (w stepWriter) step(i int, step *model.Step) (string, error) {
	members := []member{{"Name", text(step.Name)}}
	run, err := w.running(i, step)
	if err != nil {
		return "", err
	}
	members = append(members, run...)
	intent, err := w.intent(step)
	if err != nil {
		return "", err
	}
	shape := step.Query.Shape
	return object("", append(members,
		member{"Empty", w.empty(step)},
		member{"Requires", problems(step.Requires)},
		member{"RequireNames", requireNames(step.Requires)},
		member{"Statuses", statuses(step.Statuses)},
		member{"Errors", errorRules(step.Errors)},
		member{"Intent", intent},
		member{"Writes", tables(shape.Writes)},
		member{"Insert", boolean(shape.Kind == model.Insert)},
		member{"Delete", boolean(shape.Kind == model.Delete)},
	)...), nil
}

// running is how the step's statement is sent and what its rows mean.
func (w stepWriter) running(i int, step *model.Step) ([]member, error) {
	if step.Go != nil {
		return w.goStep(step)
	}
	if w.plan.Strategy != plan.Stepped {
		return w.single()
	}
	section := "step." + step.Name
	args, err := w.statementArgs(section)
	if err != nil {
		return nil, err
	}
	each, err := w.each(step)
	if err != nil {
		return nil, err
	}
	r := w.steps[i]
	return []member{
		{"Section", text(section)},
		{"Args", args},
		{"Each", each},
		{"Many", boolean(step.Query.Command == "many" || step.Query.Command == "batchmany")},
		{"Exec", boolean(r.RowsAffected)},
		{"Results", results(r)},
	}, nil
}

// single are the arguments of an operation with one statement: its strategy
// fixes the sections.
func (w stepWriter) single() ([]member, error) {
	var members []member
	for _, part := range []struct{ field, section string }{
		{"Prior", "prior"}, {"Claim", "claim"}, {"Args", "keyed"}, {"Unkeyed", "unkeyed"}, {"Forced", "forced"},
	} {
		args, err := w.statementArgs(part.section)
		if err != nil {
			return nil, err
		}
		members = append(members, member{part.field, args})
	}
	return members, nil
}

func (w stepWriter) each(step *model.Step) (string, error) {
	if step.Each == nil {
		return "", nil
	}
	i, err := w.fieldIndex(step.Each)
	return strconv.Itoa(i + 1), err
}

func results(r plan.Results) string {
	lit := object("idem.Results",
		member{"Row", boolean(r.Row)},
		member{"JSON", number(len(r.JSON))},
		member{"Requires", number(r.Requires)},
		member{"Statuses", number(r.Statuses)},
		member{"Headers", boolean(r.Headers)},
		member{"Text", number(len(r.Text))},
	)
	if lit == "idem.Results{}" {
		return ""
	}
	return lit
}

// empty says what no row means. A fine empty step that isn't the answer lets
// the next one run.
func (w stepWriter) empty(step *model.Step) string {
	e := step.Empty
	switch {
	case e.Fine && len(w.op.Steps) > 1 && !w.answers(step):
		return "idem.Empty{Fine: -1}"
	case e.Fine:
		return fmt.Sprintf("idem.Empty{Fine: %d}", e.Status)
	case e.Problem.Status != 0:
		return object("idem.Empty", member{"Problem", "&" + problem("idem.Problem", e.Problem)})
	}
	return ""
}

func (w stepWriter) answers(step *model.Step) bool {
	return w.op.Response.Kind == model.ResponseStep && w.op.Response.Step == step.Name
}

func problem(typ string, p model.Problem) string {
	return object(typ, member{"Status", number(p.Status)}, member{"Code", text(p.Code)}, member{"Title", text(p.Title)})
}

func problems(rules []model.Require) string {
	items, comments := make([]string, len(rules)), make([]string, len(rules))
	for i, r := range rules {
		items[i], comments[i] = problem("", r.Problem), r.Column
	}
	return lines("idem.Problem", items, comments)
}

func requireNames(rules []model.Require) string {
	items := make([]string, len(rules))
	for i, r := range rules {
		items[i] = text(r.Column)
	}
	return list("string", items)
}

func statuses(rules []model.StatusRule) string {
	items := make([]string, len(rules))
	for i, r := range rules {
		items[i] = strconv.Itoa(r.Status)
	}
	return list("int", items)
}

func errorRules(rules []model.ErrorRule) string {
	items := make([]string, len(rules))
	for i, r := range rules {
		items[i] = object("",
			member{"Constraint", text(r.Constraint)},
			member{"SQLState", text(r.SQLState)},
			member{"Problem", problem("idem.Problem", r.Problem)})
	}
	return list("idem.ErrorRule", items)
}

func tables(names []model.TableName) string {
	items := make([]string, len(names))
	for i, t := range names {
		items[i] = qualified(t)
	}
	slices.Sort(items)
	return list("string", texts(slices.Compact(items)))
}

// qualified is a table's name with its schema, as the server's errors name it.
func qualified(t model.TableName) string {
	if t.Schema == "" {
		t.Schema = "public"
	}
	return t.String()
}

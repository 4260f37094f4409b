package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// intent writes a step's idem.Intent, "" where it has none.
func (w stepWriter) intent(step *model.Step) (string, error) {
	if step.Intent == nil {
		return "", nil
	}
	section := w.existing(step)
	args, err := w.statementArgs(section)
	if err != nil {
		return "", err
	}
	key, err := w.intentKey(step)
	if err != nil {
		return "", err
	}
	return object("&idem.Intent",
		member{"Constraint", text(step.Intent.Index)},
		member{"Table", text(qualified(step.Intent.Table))},
		member{"Return", boolean(step.OnIntent == "return")},
		member{"Existing", text(section)},
		member{"Args", args},
		member{"Key", key},
	), nil
}

// existing is the section that looks up the row that is there already.
func (w stepWriter) existing(step *model.Step) string {
	for _, name := range []string{"existing." + step.Name, "existing"} {
		if s := w.statement(name); s != nil {
			return name
		}
	}
	return ""
}

// intentKey is what `@key intent` derives the key from: what is stored in the
// intent's columns.
func (w stepWriter) intentKey(step *model.Step) (string, error) {
	if w.op.Key.From != "intent" {
		return "", nil
	}
	args := make([]plan.Arg, len(step.Intent.Columns))
	for i, column := range step.Intent.Columns {
		arg, ok := fedBy(step, column)
		if !ok {
			return "", fmt.Errorf("operation %s: no parameter of step %s is stored in %s.%s, which the key is made of",
				w.op.Name, step.Name, step.Intent.Table, column)
		}
		args[i] = arg
	}
	items, comments := make([]string, len(args)), make([]string, len(args))
	for i, a := range args {
		item, err := w.arg(a)
		if err != nil {
			return "", err
		}
		items[i], comments[i] = item, step.Intent.Columns[i]+": "+describe(a)
	}
	return lines("idem.Arg", items, comments), nil
}

// fedBy finds the argument that is stored, unchanged, in a column of the intent.
func fedBy(step *model.Step, column string) (plan.Arg, bool) {
	i := slices.IndexFunc(step.Query.Shape.Feeds, func(f model.Feed) bool {
		return f.Assigned && f.Plain && f.Column == column && sameTable(f.Table, step.Intent.Table)
	})
	if i < 0 {
		return plan.Arg{}, false
	}
	n := step.Query.Shape.Feeds[i].Param - 1
	if n < 0 || n >= len(step.Args) || n >= len(step.Query.Params) {
		return plan.Arg{}, false
	}
	return plan.Arg{Source: step.Args[n], Type: step.Query.Params[n].Type}, true
}

func sameTable(a, b model.TableName) bool { return qualified(a) == qualified(b) }

// intentID names an intent in its migration's marker comment: one word, which
// the catalog reads back.
func intentID(i *model.Intent) string {
	id := strings.TrimPrefix(i.Table.String(), "public.") + "(" + strings.Join(i.Columns, ",") + ")"
	if i.Where != "" {
		id += "where(" + oneLine(i.Where) + ")"
	}
	return strings.NewReplacer("%", "%25", " ", "%20", "\t", "%09", "\n", "%0A", "\r", "%0D").Replace(id)
}

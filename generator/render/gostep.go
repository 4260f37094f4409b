package render

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// goStep writes the members of a step that a Go function runs, inside the
// transaction or outside.
func (w stepWriter) goStep(step *model.Step) ([]member, error) {
	args := make([]string, len(step.Args))
	inputs, comments := make([]string, len(step.Args)), make([]string, len(step.Args))
	for i, source := range step.Args {
		p, t := step.Query.Params[i], paramType(step, i)
		var err error
		if args[i], err = w.source(source, t); err != nil {
			return nil, err
		}
		comments[i] = p.Name + ": " + describe(plan.Arg{Source: source})
		inputs[i] = goInput(p.Name, t)
	}
	results := make([]string, len(step.Query.Columns))
	for i, col := range step.Query.Columns {
		results[i] = goResult(col)
	}
	call := step.Go.Call
	if call != nil {
		literal := object("&idem.CallStep",
			member{"Func", text(step.Go.Func)},
			member{"In", list("idem.Field", inputs)},
			member{"Out", list("idem.GoResult", results)},
			member{"BigintString", boolean(w.bigintString)},
			member{"Undo", text(call.Undo)},
			member{"Hold", boolean(call.Hold)},
			member{"Lease", duration(call.Lease)},
		)
		return []member{{"Args", lines("idem.Arg", args, comments)}, {"Call", literal}}, nil
	}
	literal := object("&idem.GoStep",
		member{"Func", text(step.Go.Func)},
		member{"In", list("idem.Field", inputs)},
		member{"Out", list("idem.GoResult", results)},
		member{"BigintString", boolean(w.bigintString)},
	)
	return []member{{"Args", lines("idem.Arg", args, comments)}, {"Go", literal}}, nil
}

// paramType is the type of what a Go function takes: of a value of the request,
// what all its uses together say.
func paramType(step *model.Step, i int) model.Type {
	if src := step.Args[i]; src.Kind == model.SourceInput && src.Input != nil {
		return src.Input.Type
	}
	return step.Query.Params[i].Type
}

// goInput is a value that a function takes. It was checked when the request was
// read: only its form counts.
func goInput(name string, t model.Type) string {
	members := make([]string, len(t.Members))
	for i, m := range t.Members {
		members[i] = goInput(m.Name, m.Type)
	}
	return object("",
		member{"Name", text(name)},
		member{"Kind", kindName(t.Kind)},
		member{"Array", boolean(t.Array)},
		member{"Elem", list("idem.Field", members)},
		member{"List", boolean(t.List)},
	)
}

func goResult(col model.Column) string {
	t := col.Type
	return object("",
		member{"Name", text(memberName(col))},
		member{"Kind", kindName(t.Kind)},
		member{"Array", boolean(t.Array)},
		member{"Nullable", boolean(t.Nullable)},
		member{"Enum", list("string", texts(t.Enum))},
		member{"JSONB", boolean(isJSONB(t))},
	)
}

// isJSONB tells jsonb, which PostgreSQL prints in one form, from json.
func isJSONB(t model.Type) bool {
	return t.Kind == model.KindJSON && t.Name != "json" && t.Name != "json[]"
}

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// goFuncs refuses functions whose names meet: one field of Funcs has one type,
// and its types have names that no operation's may have.
func (c *checker) goFuncs() {
	type use struct {
		signature string
		step      *model.Step
	}
	first := map[string]use{}
	c.undos()
	for _, op := range c.svc.Operations {
		for _, step := range op.Steps {
			if step.Go == nil {
				continue
			}
			name := step.Go.Func
			c.goTypeNames(step, name)
			signature := goSignature(op, step)
			other, ok := first[name]
			if !ok {
				first[name] = use{signature, step}
				continue
			}
			if step.IsCall() != other.step.IsCall() {
				c.diags.Errorf(diag.NameCollision, step.Pos, "the Go function %s runs inside a transaction at one place and calls another system at the other, %s", name, other.step.Pos).
					Hint("give one of the two another name")
			} else if other.signature != signature {
				c.diags.Errorf(diag.NameCollision, step.Pos, "the Go function %s has other types here than at %s", name, other.step.Pos).
					Hint("give one of the two another name, or the same request: and returns:")
			}
		}
	}
}

// goTypeNames refuses a function whose types an operation has.
func (c *checker) goTypeNames(step *model.Step, name string) {
	for _, op := range c.svc.Operations {
		types := []string{name + "Input", name + "Output"}
		if op.Name == name || slices.Contains(types, op.Name) {
			c.diags.Errorf(diag.NameCollision, step.Pos, "the types of the Go function %s would meet those of operation %s", name, op.Name).
				Hint("give one of the two another name; a step keeps its own with as:")
			return
		}
	}
}

// goSignature is what two uses of one function must have in common.
func goSignature(op *model.Operation, step *model.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v call %v\n", step.Go.Package.Import, step.Go.DBArgument, step.IsCall())
	if step.Go.Whole {
		fmt.Fprintf(&b, "input of %s\n", op.Name)
	}
	for i, p := range step.Query.Params {
		t := p.Type
		if in := step.Args[i].Input; step.Args[i].Kind == model.SourceInput && in != nil {
			t = in.Type
		}
		fmt.Fprintf(&b, "in %s %s\n", p.Name, goShape(t))
	}
	for _, col := range step.Query.Columns {
		fmt.Fprintf(&b, "out %s %s\n", col.Name, goShape(col.Type))
	}
	return b.String()
}

// goShape is a type as Go sees it.
func goShape(t model.Type) string {
	text := fmt.Sprintf("%s %v %v %s", t.Kind, t.Array, t.List, t.GoType.Expr)
	for _, m := range t.Members {
		text += "\n " + m.Name + " " + goShape(m.Type)
	}
	return text
}

// goRule is a rule of `error:` on a Go step: a constraint or SQLSTATE as
// elsewhere; any other name is a code that the function itself returns. In a
// call no statement runs, so every name is a code.
func (b *builder) goRule(step *model.Step, r spec.ErrorRule) bool {
	if step.Go == nil {
		return false
	}
	holders, all := b.holders(r.Name.Value)
	if statement := b.isSQLState(r.Name.Value) || len(holders) > 0; statement && step.IsCall() {
		return b.refuseCallRule(step, r)
	} else if statement {
		return false
	}
	out := model.ErrorRule{Problem: problem(r.Problem, snake(r.Name.Value)), Declared: true}
	switch near := diag.Nearest(r.Name.Value, all); {
	case r.Problem.Code != "" && r.Problem.Code != out.Problem.Code, out.Problem.Code != r.Name.Value:
		b.diags.Errorf(diag.ProblemForm, r.Name.Pos, "%s is a code that the function returns, so its problem has no other", r.Name.Value).
			Hint("write %s: %d %q", snake(r.Name.Value), out.Problem.Status, out.Problem.Title)
	case near != "":
		b.diags.Warnf(diag.ConstraintUnused, r.Name.Pos, "no constraint is named %s, so it is a code that the function %s returns", r.Name.Value, step.Go.Func).
			Hint("did you mean the constraint %s?", near)
	}
	step.Errors = append(step.Errors, out)
	return true
}

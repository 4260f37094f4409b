package render

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// answers lists what the operation answers beside its success, for reviewers:
// the SQL shows when, and the problems themselves are parameters or stand in
// the Go file.
func answers(op *plan.Operation) []string {
	lines := []string{fmt.Sprintf("%d: done", op.Model.Status)}
	if op.Model.Async {
		lines = []string{"202: written down, with the event id; what follows is recorded later", lines[0]}
	}
	for _, s := range op.Model.Steps {
		at := ""
		if len(op.Model.Steps) > 1 {
			at = s.Name + ": "
		}
		lines = append(lines, stepAnswers(at, s)...)
	}
	return lines
}

func stepAnswers(at string, s *model.Step) []string {
	var lines []string
	for _, r := range s.Statuses {
		lines = append(lines, fmt.Sprintf("%d: %s%s is true; the writes stay", r.Status, at, r.Column))
	}
	switch empty := s.Empty; {
	case s.Go != nil:
	case slices.Contains([]string{"many", "batchmany"}, s.Query.Command), surelyOne(s):
	case empty.Fine && empty.Status != 0:
		lines = append(lines, fmt.Sprintf("%d: %sno row; the writes stay", empty.Status, at))
	case !empty.Fine:
		lines = append(lines, refusalLine(empty.Problem, at+"no row"))
	}
	for _, r := range s.Requires {
		lines = append(lines, refusalLine(r.Problem, at+r.Column+" is not true"))
	}
	for _, r := range s.Errors {
		when := at + r.Constraint + r.SQLState + " is violated"
		if r.Constraint+r.SQLState == "" {
			when = at + "the function says so"
		}
		if !r.Declared {
			when += "; 422 input-invalid where that is seen before"
		}
		lines = append(lines, refusalLine(r.Problem, when))
	}
	if s.Intent != nil {
		line := "409 intent-conflict: " + at + s.Intent.Index + " is violated: there is a row for this intent"
		if s.OnIntent == "return" {
			line += "; if it equals the inputs, it is the answer"
		}
		lines = append(lines, line)
	}
	return lines
}

// surelyOne reports whether a statement always gives its row.
func surelyOne(s *model.Step) bool {
	shape := s.Query.Shape
	return shape.Kind == model.Insert && shape.SingleValues && shape.OnConflict == "" && !shape.TargetTraits.RowTriggers
}

func refusalLine(p model.Problem, when string) string {
	return fmt.Sprintf("%d %s: %s", p.Status, p.Code, oneLine(when))
}

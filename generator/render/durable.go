package render

import (
	"github.com/idemgen/idemgen/generator/model"
)

// durableSteps says for reviewers where an operation commits, and what happens
// there.
func durableSteps(op *model.Operation) []string {
	var lines []string
	if op.Async {
		lines = append(lines, "the request: written down with its inputs, committed, answered with 202; in the background:")
	}
	for _, s := range op.Steps {
		switch {
		case s.IsCall():
			lines = append(lines, "commit; then step "+s.Name+": call of Funcs."+s.Go.Func+callNotes(s.Go.Call))
		case s.Go != nil:
			lines = append(lines, "step "+s.Name+": Go function Funcs."+s.Go.Func+", inside the transaction")
		default:
			lines = append(lines, "step "+s.Name+": section step."+s.Name)
		}
	}
	return append(lines, "record; commit")
}

func callNotes(c *model.Call) string {
	notes := "; unknown outcome: called again with the same key"
	if c.Hold {
		notes = "; unknown outcome: held for an operator"
	}
	if c.Undo != "" {
		notes += "; taken back by Funcs." + c.Undo
	}
	return notes
}

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// newSQLView checks what the runtime relies on: sections are cut at their heads.
func newSQLView(op *plan.Operation) (sqlView, error) {
	view := sqlView{
		Name: op.Model.Name, Method: op.Model.Method, Path: op.Model.Path,
		Strategy: string(op.Strategy), RoundTrips: op.RoundTrips, Answers: answers(op), Async: op.Model.Async,
		GoInside: slices.ContainsFunc(op.Model.Steps, func(s *model.Step) bool { return s.Go != nil && !s.IsCall() }),
	}
	if op.Model.Summary != "" {
		view.Summary = []string{oneLine(op.Model.Summary)}
	}
	if op.Model.Durable() {
		view.Steps = durableSteps(op.Model)
	} else if op.Strategy == plan.Stepped && slices.ContainsFunc(op.Model.Steps, func(s *model.Step) bool { return s.Go != nil }) {
		for _, s := range op.Model.Steps {
			line := "step " + s.Name + ": section step." + s.Name
			if s.Go != nil {
				line = "step " + s.Name + ": Go function Funcs." + s.Go.Func + ", inside the transaction"
			}
			view.Steps = append(view.Steps, line)
		}
	}
	if op.Reason != "" {
		view.Reason = []string{"Why: " + oneLine(op.Reason)}
	}
	switch op.Strategy {
	case plan.Stepped:
		view.Replay = 2
		if op.Model.Async {
			view.Replay = 1
		}
	case plan.Fused, plan.Verbatim:
		view.Replay = 1
	case plan.Direct:
	}
	for _, s := range op.Statements {
		if strings.Contains("\n"+s.SQL, "\n"+sectionHead) {
			return view, fmt.Errorf("operation %s: a line of statement %s begins with %q, which divides statements", op.Model.Name, s.Name, sectionHead)
		}
		view.Statements = append(view.Statements, sectionView{Name: s.Name, SQL: strings.TrimRight(s.SQL, "\n")})
	}
	return view, nil
}

const sectionHead = "-- statement: "

// sqlView is what templates/emit/operation.sql.tmpl prints.
type sqlView struct {
	Name, Method, Path, Strategy string
	RoundTrips, Replay           int
	Summary, Reason, Answers     []string
	Steps                        []string // in order, where Go is among them
	Async, GoInside              bool
	Statements                   []sectionView
}

type sectionView struct{ Name, SQL string }

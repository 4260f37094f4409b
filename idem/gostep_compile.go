package idem

import (
	"errors"
	"fmt"
	"strings"
)

// compile checks a Go step and finds its function; nil where there is none.
func (g *GoStep) compile(args []Arg, funcs map[string]GoFunc) (run GoFunc, in []*boundField, err error) {
	if len(args) != len(g.In) {
		return nil, nil, fmt.Errorf("%d values for %d inputs of %s", len(args), len(g.In), g.Func)
	}
	for i, field := range g.In {
		bound, err := bindField(field, i, "")
		if err != nil {
			return nil, nil, fmt.Errorf("input %s: %w", field.Name, err)
		}
		in = append(in, bound)
	}
	for _, out := range g.Out {
		if !out.Kind.valid() || out.Kind == KindRecord {
			return nil, nil, fmt.Errorf("result %s: a Go step can't return %s", out.Name, out.Kind)
		}
	}
	return funcs[g.Func], in, nil
}

// missingFuncs names every function that a Go step has and Options.Go has not.
func (s *Service) missingFuncs() error {
	var missing []string
	told := map[string]bool{}
	for _, declared := range s.cfg.Operations {
		op := s.operations[declared.Name]
		for i := range op.steps {
			st := &op.steps[i]
			if st.Go != nil && st.run == nil && !told[st.Go.Func] {
				told[st.Go.Func] = true
				missing = append(missing, fmt.Sprintf("Options.Go.%s is nil: it is step %s of %s", st.Go.Func, st.Name, op.Name))
			}
			missing = append(missing, st.missingCalls(op, told)...)
		}
	}
	if missing == nil {
		return nil
	}
	return errors.New(strings.Join(missing, "; "))
}

// runsGo reports whether a Go function is among the steps.
func (op *operation) runsGo() bool {
	for i := range op.steps {
		if op.steps[i].Go != nil {
			return true
		}
	}
	return false
}

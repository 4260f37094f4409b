package idem

import (
	"errors"
	"fmt"
	"slices"
)

// compileCall checks a call step and finds its functions; nil where there is none.
func (st *step) compileCall(funcs functions) error {
	takes := GoStep{Func: st.Call.Func, In: st.Call.In, Out: st.Call.Out}
	var err error
	if _, st.in, err = takes.compile(st.Args, nil); err != nil {
		return err
	}
	if st.Each > 0 {
		return errors.New("a call can't run per element")
	}
	for i, out := range st.Call.Out {
		f, err := bindField(Field{Name: out.Name, Kind: out.Kind, Array: out.Array, Nullable: out.Nullable}, i, "")
		if err != nil {
			return fmt.Errorf("result %s: %w", out.Name, err)
		}
		st.out = append(st.out, f)
	}
	st.reach, st.undo = funcs.call[st.Call.Func], funcs.undo[st.Call.Undo]
	return nil
}

// missingCalls names the functions of a call step that Options have not; emitted
// code takes all functions in Options.Go.
func (st *step) missingCalls(op *operation, told map[string]bool) (missing []string) {
	if st.Call == nil {
		return nil
	}
	name := func(option, function string, found bool) {
		if option += "." + function; !found && !told[option] {
			told[option] = true
			missing = append(missing, fmt.Sprintf("Options.%s is nil: it is of step %s of %s", option, st.Name, op.Name))
		}
	}
	name("Go", st.Call.Func, st.reach != nil)
	name("Go", st.Call.Undo, st.undo != nil || st.Call.Undo == "")
	return missing
}

// function is the name of the Go function of a step.
func (st *step) function() string {
	if st.Call != nil {
		return st.Call.Func
	}
	return st.Go.Func
}

// durable reports whether the operation outlives its first transaction.
func (op *operation) durable() bool { return op.calls || op.Async }

// compileDurable checks what an operation needs that commits in between, and sees
// what it has to keep meanwhile.
func (op *operation) compileDurable() error {
	op.calls = slices.ContainsFunc(op.steps, func(st step) bool { return st.Call != nil })
	switch {
	case !op.durable():
		return nil
	case op.Strategy != Stepped:
		return errors.New("an operation with calls, or an async one, must be Stepped")
	case op.Key.From == KeyNone:
		return errors.New("an operation with calls, or an async one, needs a key: nothing else says that a repetition is one")
	case op.Policy.Force:
		return errors.New("an operation with calls, or an async one, can't be forced: its calls have the key of the first run")
	case op.Policy.Sealed:
		return errors.New("record=sealed does not go with calls or async: inputs and results wait in idem.work in clear")
	}
	op.findKept()
	op.markShown(&op.Answer)
	return nil
}

// findKept finds the steps whose results later ones bind, and the values that
// are made once for all attempts.
func (op *operation) findKept() {
	for i := range op.steps {
		st := &op.steps[i]
		st.bound = st.bound || st.undo != nil
		args := st.Args
		if st.Intent != nil {
			args = slices.Concat(args, st.Intent.Args)
		}
		for _, arg := range args {
			switch arg.From {
			case ArgStep:
				op.steps[arg.Step].bound = true
			case ArgNow, ArgUUID4, ArgUUID7:
				op.makes = append(op.makes, arg.From)
			}
		}
	}
}

func (op *operation) markShown(a *Answer) {
	if a.Kind == "step" || a.Kind == "column" {
		op.steps[a.Step].shown = true
	}
	for i := range a.Members {
		op.markShown(&a.Members[i].Value)
	}
}

package idem

import (
	"context"
	"errors"
	"fmt"
)

// refuse ends the operation with a client error: the calls that were done are
// taken back first. Nil: that begins.
func (w *work) refuse(ctx context.Context, e *Error) *answer {
	return w.endWith(ctx, w.s.refuse(w.inv, e))
}

// endWith ends the operation with an answer in place of its own.
func (w *work) endWith(ctx context.Context, ans *answer) *answer {
	last := w.undoable(w.at - 1)
	if last < 0 {
		return w.finish(ctx, ans)
	}
	ahead := work{inv: w.inv, at: last}
	params := [][]byte{ans.refusalText(), number(last), w.done.stored(w.inv.op), seconds(ahead.lease())}
	switch met, err := w.aside(ctx, undoWork.with(append(params, w.fence()...)...)); {
	case err != nil:
		return w.postpone(ctx, err)
	case !met:
		return w.lose()
	}
	w.moved(w.done, last)
	w.undoing, w.refusal = true, ans
	return nil
}

// undoable is the last call up to a step that can be taken back, -1 if there is none.
func (w *work) undoable(from int) int {
	for i := from; i >= 0; i-- {
		if w.inv.op.steps[i].undo != nil {
			return i
		}
	}
	return -1
}

// takeBack undoes one call; behind the first of them the answer is recorded. Nil:
// the work goes on.
func (w *work) takeBack(ctx context.Context) *answer {
	at := w.undoable(min(w.at, len(w.inv.op.steps)-1))
	if at < 0 {
		return w.finish(ctx, w.refusal)
	}
	if at >= len(w.done.texts) {
		return w.hold(ctx, reasonUnfit)
	}
	w.at = at
	st := &w.inv.op.steps[at]
	err, kept := w.outside(ctx, func(ctx context.Context) error {
		return st.undo(ctx, w.inv.callKey(st, "undo"), w.scanner(st), w.resultScanner(st, at))
	})
	switch {
	case !kept:
		return w.lose()
	case err != nil:
		return w.postpone(ctx, fmt.Errorf("idem: undo %s: %w", st.Call.Undo, plainly(err)))
	}
	switch met, err := w.aside(ctx, w.progressed(w.done.stored(w.inv.op), at-1)); {
	case err != nil:
		return w.postpone(ctx, err)
	case !met:
		return w.lose()
	}
	w.moved(w.done, at-1)
	return nil
}

// plainly hides that an error of an undo is an *Error: it is no answer. Fmt stands
// it where the error can't be read.
func plainly(err error) error { return errors.New(fmt.Sprint(err)) }

// finish records the answer outside of a transaction of steps.
func (w *work) finish(ctx context.Context, ans *answer) *answer {
	keep := w.inv.op.keepErrors()
	if ans.status < 400 {
		keep = w.inv.op.Policy.Success
	}
	switch met, err := w.aside(ctx, finishWork.with(append(w.s.answerParams(w.inv, ans, keep), w.fence()...)...)); {
	case err != nil:
		return w.postpone(ctx, err)
	case !met:
		return w.lose()
	}
	ans.stored = true
	return ans
}

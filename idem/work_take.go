package idem

import (
	"context"
	"fmt"
	"strconv"
)

// take takes the lease of the work under the key, where nobody has it.
func (w *work) take(ctx context.Context) (taken bool, err error) {
	params := [][]byte{[]byte(w.owner), seconds(w.inv.op.shortLease())}
	results, err := w.inv.pool.writeAside(ctx, takeWork.with(append(params, w.inv.identityParams()...)...))
	if err != nil || len(results[0].rows) == 0 {
		return false, err
	}
	row := results[0].rows[0]
	w.early, w.briefly = isTrue(row[8]), w.inv.op.shortLease()
	return true, w.load(row)
}

// load reads the columns that takeWork and pickWork begin with: attempt, step,
// tries, input, results, undoing, refusal, and whose the lease was.
func (w *work) load(row [][]byte) error {
	for i, into := range []*int{&w.attempt, &w.saved, &w.tries} {
		n, err := strconv.Atoi(string(row[i]))
		if err != nil {
			return err
		}
		*into = n
	}
	w.at = w.saved
	w.unsure = len(row[7]) > 0 && (string(row[7]) != w.owner || w.attempt-1 > max(w.known, 1))
	w.known = w.attempt
	w.undoing = isTrue(row[5])
	err := w.inv.restore(row[3], w.s.callers)
	if w.undoing && w.saved < 0 { // nothing is left to do but to record
		err = nil
	}
	if err != nil {
		return &misfit{err}
	}
	if done, err := restoreProgress(row[4], w.inv.op); err == nil {
		w.done = done
	} else if !w.undoing || w.saved >= 0 {
		return &misfit{err} // w.done stays empty: park can't store results of other steps
	}
	if w.undoing {
		if w.refusal, err = restoreRefusal(row[6]); err != nil {
			return &misfit{err}
		}
		if w.refusal == nil {
			w.refusal = w.s.refuse(w.inv, errGivenUp())
		}
		return nil
	}
	if w.at < 0 || w.at > len(w.inv.op.steps) || w.at > 0 && len(w.done.texts) != w.at {
		return &misfit{fmt.Errorf("it stands at step %d", w.at)}
	}
	return nil
}

// misfit is work that the operation, as it is now, can't continue.
type misfit struct{ cause error }

func (e *misfit) Error() string {
	return "idem: the unfinished work does not fit the operation as it is now: " + e.cause.Error()
}
func (e *misfit) Unwrap() error { return e.cause }

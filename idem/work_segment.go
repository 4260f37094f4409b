package idem

import (
	"context"
	"errors"
	"maps"
)

// errLate is the failure of an owner whose lease is another's by now.
var errLate = errors.New("idem: another process has taken the operation over")

// enterUnlocked bounds a transaction whose lock is the row of idem.work.
func (t *transaction) enterUnlocked() query {
	return enterQueries[entry{checksClient: t.c.facts.checksClient}]
}

// segment runs the steps up to the next call in one transaction, and again where
// that can be overcome at once. Nil: the work goes on.
func (w *work) segment(ctx context.Context) *answer {
	var tries tries
	for {
		var ans *answer
		failed := w.onConn(ctx, &tries, func(c *conn) (failed *failure) {
			ans, failed = w.runSegment(ctx, c)
			return failed
		})
		if failed == nil {
			return ans
		}
		ans, again := w.overcome(ctx, failed, &tries)
		if !again {
			return ans
		}
		w.inv.seen.retry(failed, tries.why)
	}
}

func (w *work) runSegment(ctx context.Context, c *conn) (*answer, *failure) {
	t := &transaction{s: w.s, c: c, inv: w.inv}
	working, cancel := context.WithDeadline(ctx, w.inv.deadline.Add(w.s.grace))
	defer cancel()
	next := w.inv.op.nextCall(w.at)
	if err := t.prepareSteps(working, w.at, next); err != nil {
		return nil, &failure{err: err, step: unknownStep}
	}
	if failed := w.enter(working, t); failed != nil {
		return nil, failed
	}
	run := &stepRun{transaction: t, results: w.done.results, texts: w.done.texts, status: w.done.status, headers: maps.Clone(w.done.headers)}
	ans, failed := run.some(working, w.at, next)
	if failed != nil {
		return nil, failed
	}
	if ans == nil && next == len(w.inv.op.steps) {
		ans = run.answer()
	}
	if failed := t.commitWith(ctx, w.leadsTo(run, ans, next)); failed != nil {
		return nil, failed
	}
	w.s.wakeFor(ctx, w.inv)
	w.moved(run.progress(), next)
	return ans, nil
}

// enter begins the transaction and locks the row: nobody takes the work over
// before its end.
func (w *work) enter(ctx context.Context, t *transaction) *failure {
	limit := w.inv.op.Policy.Timeout
	script := []statement{t.begins().with()}
	if w.inv.op.session != nil {
		script = append(script, t.s.sessionStatement(w.inv))
	}
	script = append(script, t.enterUnlocked().with([]byte(millis(limit)), []byte(millis(limit+t.s.grace))))
	fence := len(script)
	script = append(script, lockWork.with(w.fence()...))
	if t.sentinel() {
		script = append(script, setSavepoint.with())
	}
	results, err := t.c.send(ctx, script...)
	switch {
	case err != nil:
		return &failure{err: err, step: unknownStep}
	case len(results[fence].rows) == 0:
		return &failure{err: errLate, step: unknownStep}
	}
	return nil
}

// leadsTo is the last statement of a transaction: the record, or the way to the
// next call.
func (w *work) leadsTo(run *stepRun, ans *answer, next int) statement {
	if ans != nil {
		return finishWork.with(append(w.s.answerParams(w.inv, ans, w.inv.op.Policy.Success), w.fence()...)...)
	}
	done := run.progress()
	return w.progressed(done.stored(w.inv.op), next)
}

// progressed moves the row to another step.
func (w *work) progressed(results []byte, next int) statement {
	ahead := work{inv: w.inv, at: next}
	return progressWork.with(append([][]byte{number(next), results, seconds(ahead.lease())}, w.fence()...)...)
}

// moved notes that the row is at another step.
func (w *work) moved(done progress, next int) {
	w.done, w.at, w.saved, w.tries, w.unsure, w.early = done, next, next, 0, false, false
}

package idem

import (
	"context"
	"math/rand/v2"
	"time"
)

// jittered is a duration of which half is random.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// onConn runs one transaction on a connection, as attempt does.
func (w *work) onConn(ctx context.Context, tries *tries, do func(*conn) *failure) *failure {
	acquiring, cancel := context.WithDeadline(ctx, w.inv.deadline)
	defer cancel()
	c, err := w.inv.pool.acquire(acquiring, tries.fresh == 0)
	if err != nil {
		return &failure{err: err, step: unknownStep}
	}
	ended := false
	var failed *failure
	defer func() {
		if !ended || failed != nil && isStale(failed.err) {
			c.discard(ctx)
		} else {
			c.release()
		}
	}()
	failed = guarded(c, do)
	if c.inTransaction() {
		c.rollback(ctx)
	}
	if failed != nil {
		failed.lost = c.isClosed()
	}
	ended = true
	return failed
}

// guarded makes a panic a failure like any other, so that the connection is given
// back.
func guarded(c *conn, do func(*conn) *failure) (failed *failure) {
	defer func() {
		if p := recover(); p != nil {
			failed = &failure{err: panicError(p), step: unknownStep}
		}
	}()
	return do(c)
}

// prepareSteps prepares the statements of a segment ahead of its transaction.
func (t *transaction) prepareSteps(ctx context.Context, from, to int) error {
	queries := append(t.frame(), findWork, lockWork, progressWork, finishWork)
	if t.rowFirst() {
		queries = append(queries, beginClaimedWork)
	} else {
		queries = append(queries, beginWork)
	}
	for i := from; i < to; i++ {
		if t.inv.op.steps[i].Go == nil {
			queries = append(queries, t.inv.op.steps[i].query)
		}
	}
	return t.c.prepareAll(ctx, queries...)
}

// progress is what the run has given so far.
func (r *stepRun) progress() progress {
	return progress{results: r.results, texts: r.texts, status: r.status, headers: r.headers}
}

package idem

import (
	"context"
	"time"
)

// drive does what is left of the work until there is an answer: that of the
// operation, or why it has to wait. Nil: the lease is another's.
func (w *work) drive(ctx context.Context) *answer {
	for w.attempt > 0 {
		if w.leaving() {
			return w.giveBack(ctx)
		}
		if w.tries >= w.s.completer.MaxTries { // the last ones ended without a word
			return w.hold(ctx, timesFailed(w.tries))
		}
		w.inv.deadline = time.Now().Add(w.inv.op.Policy.Timeout)
		if ans := w.turn(ctx); ans != nil {
			return ans
		}
	}
	return nil
}

// turn is one call, or one transaction. Nil: the work goes on.
func (w *work) turn(ctx context.Context) *answer {
	switch {
	case w.undoing:
		return w.takeBack(ctx)
	case w.at == w.saved && w.inv.op.nextCall(w.at) == w.at && w.at < len(w.inv.op.steps):
		return w.call(ctx)
	}
	return w.segment(ctx)
}

// lose notes that the lease is another's: nothing more may be written.
func (w *work) lose() *answer {
	w.attempt = 0
	return nil
}

func (w *work) leaving() bool {
	select {
	case <-w.leave:
		return true
	default:
		return false
	}
}

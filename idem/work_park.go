package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What idem.work.reason begins with; never a value of a request.
const (
	reasonStep    = "it failed"
	reasonUnknown = "it is not known whether it was done"
	reasonUnfit   = "the unfinished work does not fit the operation as it is now"
)

// maxDelay bounds the time between two tries.
const maxDelay = 5 * time.Minute

// delayOf is 0.5 s doubling, half of it random.
func delayOf(tries int) time.Duration {
	return jittered(min(time.Second<<min(max(tries-1, 0), 10), maxDelay))
}

// postpone leaves the work to a later try, by a repetition of the request or the
// completer.
func (w *work) postpone(ctx context.Context, cause error) *answer {
	return w.parked(ctx, reasonStep, w.s.refuse(w.inv, errUnavailable(cause)))
}

// breakdown is postpone where something is wrong with the service.
func (w *work) breakdown(ctx context.Context, cause error) *answer {
	w.s.logFault(ctx, w.inv, cause)
	return w.parked(ctx, reasonStep, w.s.refuse(w.inv, errInternal(cause)))
}

// parked gives the lease back until the next try, and ans to the client. After too
// many the work is held.
func (w *work) parked(ctx context.Context, reason string, ans *answer) *answer {
	w.tries++
	if w.tries >= w.s.completer.MaxTries {
		return w.hold(ctx, fmt.Sprintf("%s, %d times", reason, w.tries))
	}
	delay := delayOf(w.tries)
	if w.park(ctx, 1, delay, w.why(reason), false) {
		w.s.wakeIn(w.inv.pool, delay)
	}
	return ans
}

// hold leaves the work to an operator.
func (w *work) hold(ctx context.Context, reason string) *answer {
	reason = w.why(reason)
	w.s.logger.ErrorContext(ctx, "operation held: an operator has to decide", "operation", w.inv.op.stored,
		"request", w.inv.occurrence(), "reason", reason)
	if !w.park(ctx, 1, 0, reason, true) {
		return w.s.refuse(w.inv, errUnavailable(nil))
	}
	return w.s.refuse(w.inv, errHeld())
}

// why says at which step it is.
func (w *work) why(reason string) string {
	if w.at >= 0 && w.at < len(w.inv.op.steps) {
		reason = "step " + w.inv.op.steps[w.at].Name + ": " + reason
	}
	if w.undoing {
		reason = "undo: " + reason
	}
	return reason
}

// giveBack leaves the work to whoever comes first.
func (w *work) giveBack(ctx context.Context) *answer {
	w.park(ctx, 0, 0, "", false)
	return w.s.refuse(w.inv, errUnavailable(nil))
}

// park writes down how far the work has come, and gives the lease back. Where that
// fails, it ends by itself.
func (w *work) park(ctx context.Context, tried int, delay time.Duration, reason string, held bool) bool {
	params := [][]byte{number(w.at), w.done.stored(w.inv.op), number(tried), seconds(delay), []byte(fmt.Sprint(held)), nil}
	if w.done.texts == nil {
		params[1] = nil // there are none, or they could not be read
	}
	if reason != "" {
		params[5] = []byte(reason)
	}
	met, err := w.aside(ctx, parkWork.with(append(params, w.fence()...)...))
	if err != nil {
		w.s.logger.WarnContext(ctx, "the lease of an operation could not be given back", "operation", w.inv.op.stored, "error", err)
	}
	return met
}

// stuck is the answer where the work could not be taken.
func (w *work) stuck(ctx context.Context, err error) *answer {
	var unfit *misfit
	if !errors.As(err, &unfit) {
		return w.s.refuse(w.inv, errUnavailable(err))
	}
	w.s.logFault(ctx, w.inv, err)
	return w.hold(ctx, reasonUnfit+": "+unfit.cause.Error())
}

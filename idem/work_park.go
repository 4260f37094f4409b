package idem

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// What idem.work.reason begins with; never a value of a request.
const (
	reasonStep    = "it failed"
	reasonUnknown = "it is not known whether it was done"
	reasonUnkept  = "its results can't be kept"
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
	return w.parked(ctx, w.s.refuse(w.inv, errUnavailable(cause)))
}

// breakdown is postpone where something is wrong with the service.
func (w *work) breakdown(ctx context.Context, cause error) *answer {
	w.s.logFault(ctx, w.inv, cause)
	return w.parked(ctx, w.s.refuse(w.inv, errInternal(cause)))
}

// parked gives the lease back until the next try, and ans to the client. After too
// many the work is held; a try that was not due does not count.
func (w *work) parked(ctx context.Context, ans *answer) *answer {
	if w.early {
		w.park(ctx, parking{reason: w.why(reasonStep), asDue: true})
		return ans
	}
	w.tries++
	if w.tries >= w.s.completer.MaxTries {
		return w.hold(ctx, timesFailed(w.tries))
	}
	delay := delayOf(w.tries)
	if w.park(ctx, parking{tried: 1, delay: delay, reason: w.why(reasonStep)}) {
		w.s.wakeIn(w.inv.pool, delay)
	}
	return ans
}

func timesFailed(n int) string { return fmt.Sprintf("%s, %d times", reasonStep, n) }

// hold leaves the work to an operator.
func (w *work) hold(ctx context.Context, reason string) *answer {
	reason = w.why(reason)
	w.s.logger.ErrorContext(ctx, "operation held: an operator has to decide", "operation", w.inv.op.stored,
		"request", w.inv.occurrence(), "reason", reason)
	if !w.park(ctx, parking{tried: 1, reason: reason, held: true}) {
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
	w.park(ctx, parking{asDue: w.early})
	return w.s.refuse(w.inv, errUnavailable(nil))
}

// parking is how a lease is given back.
type parking struct {
	tried  int           // failed tries to be counted
	delay  time.Duration // until the next one
	asDue  bool          // that one is due when it was
	reason string        // "": none
	held   bool
}

// park writes down how far the work has come, and gives the lease back. Where that
// fails, it ends by itself.
func (w *work) park(ctx context.Context, p parking) bool {
	results := w.done.stored(w.inv.op)
	if w.done.texts == nil {
		results = nil // there are none, or they could not be read
	}
	met, err := w.aside(ctx, w.parkedAt(w.at, results, p))
	if isPgError(err) && !isOutage(sqlState(err)) && w.at > w.saved {
		// The database can't keep what the call has returned. Then it counts as one of
		// which nobody knows whether it was done.
		w.logUnparked(ctx, err)
		if p.held = p.held || w.inv.op.steps[w.saved].Call.Hold; p.held {
			p.reason = reasonUnkept
		}
		met, err = w.aside(ctx, w.parkedAt(w.saved, nil, p))
	}
	if err != nil {
		w.logUnparked(ctx, err)
	}
	return met
}

func (w *work) parkedAt(step int, results []byte, p parking) statement {
	params := [][]byte{number(step), results, number(p.tried), seconds(p.delay), []byte(strconv.FormatBool(p.held)), nil}
	if p.asDue {
		params[3] = nil
	}
	if p.reason != "" {
		params[5] = []byte(p.reason)
	}
	return parkWork.with(append(params, w.fence()...)...)
}

func (w *work) logUnparked(ctx context.Context, err error) {
	w.s.logger.WarnContext(ctx, "the lease of an operation could not be given back", "operation", w.inv.op.stored, "error", err)
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

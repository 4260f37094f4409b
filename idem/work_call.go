package idem

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// NotDone marks the error of a call function: the call was certainly not done, as
// where no connection could be made. It is made again, also under `unknown: hold`.
// Nil stays nil.
func NotDone(err error) error {
	if err == nil {
		return nil
	}
	return &notDone{err}
}

type notDone struct{ cause error }

func (e *notDone) Error() string { return e.cause.Error() }
func (e *notDone) Unwrap() error { return e.cause }

// callKey is what a call is known by: the same for all attempts in all processes,
// and in no other operation, scope, key or step.
func (inv *invocation) callKey(st *step, what string) string {
	return hex.EncodeToString(hashParts(inv.op.stored, inv.scope, inv.key, st.Name, what))
}

// call runs the function of a call step. Nil: the work goes on, with its results
// or without the lease.
func (w *work) call(ctx context.Context) *answer {
	st := &w.inv.op.steps[w.at]
	if w.unsure && st.Call.Hold {
		return w.hold(ctx, reasonUnknown)
	}
	w.unsure = false
	var results []any
	err, kept := w.outside(ctx, func(ctx context.Context) (err error) {
		results, err = st.reach(ctx, w.inv.callKey(st, "call"), w.scanner(st))
		return st.answered(err)
	})
	if !kept {
		return w.lose()
	}
	if err == nil {
		err = w.keep(st, results)
	}
	return w.called(ctx, st, err)
}

// keep takes the results of a call that was done.
func (w *work) keep(st *step, results []any) error {
	returns := GoStep{Func: st.Call.Func, Out: st.Call.Out, BigintString: st.Call.BigintString}
	values, err := returns.values(results)
	if err != nil {
		return fmt.Errorf("idem: the Go function %s: %w", st.Call.Func, err)
	}
	w.done.texts = append(w.done.texts, textsOf(values))
	w.done.results = append(w.done.results, stepResult{rows: []stepRow{returns.row(values)}})
	w.at++
	return nil
}

// called is what comes of the end of a call.
func (w *work) called(ctx context.Context, st *step, err error) *answer {
	var undone *notDone
	refusal, _ := ownError(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &undone):
	case refusal != nil && isDefinite(refusal.Status) && refusal.retryAfter == 0:
		return w.refuse(ctx, refusal)
	case st.Call.Hold:
		w.s.logFault(ctx, w.inv, fmt.Errorf("call %s: %w", st.Call.Func, err))
		return w.hold(ctx, reasonUnknown)
	}
	return w.postpone(ctx, fmt.Errorf("idem: call %s: %w", st.Call.Func, err))
}

// errOutlived is the failure of a function that does not heed its context.
var errOutlived = errors.New("idem: the function goes on, although its context has ended")

// outside runs a function outside of any transaction, holding no connection. Its
// lease is extended meanwhile; kept false: it is another's, and what the function
// did is that one's to find out. A function that does not end with its context is
// left to itself: the work, and the place of the completer, are not.
func (w *work) outside(ctx context.Context, do func(context.Context) error) (err error, kept bool) {
	limit := w.inv.deadline.Add(w.s.grace)
	holding, end := context.WithDeadline(ctx, limit)
	defer end()
	working, cancel := context.WithDeadline(holding, w.inv.deadline)
	defer cancel()
	holder := w.keepLease(holding, cancel)
	defer holder.stop()
	select {
	case ended := <-apart(func() error { return do(working) }):
		if ended.vanished {
			runtime.Goexit() // as it would have without a goroutine of its own
		}
		err = ended.err
	case <-holding.Done():
		err = errOutlived
	}
	return err, holder.stop()
}

// ending is how a function has ended. Vanished: with its goroutine.
type ending struct {
	err      error
	vanished bool
}

// apart runs a function on a goroutine of its own. A panic is an error.
func apart(do func() error) <-chan ending {
	ended := make(chan ending, 1)
	go func() {
		end := ending{vanished: true}
		defer func() {
			if p := recover(); p != nil {
				end = ending{err: panicError(p)}
			}
			ended <- end
		}()
		end = ending{err: do()}
	}()
	return ended
}

// scanner fills what the function of a step takes.
func (w *work) scanner(st *step) func(into ...any) error {
	from := binding{inv: w.inv, steps: w.done.texts}
	return func(into ...any) error { return from.scanArgs(st, into) }
}

// resultScanner fills what a call has returned.
func (w *work) resultScanner(st *step, at int) func(into ...any) error {
	return func(into ...any) error {
		texts := w.done.texts[at]
		if len(into) != len(st.out) || len(texts) != len(st.out) {
			return fmt.Errorf("idem: undo %s takes %d results, %d are kept", st.Call.Undo, len(into), len(texts))
		}
		for i, f := range st.out {
			v := nullValue()
			if texts[i] != nil {
				v = textValue(string(texts[i]))
			}
			if err := f.scan(v, into[i]); err != nil {
				return fmt.Errorf("idem: undo %s: result %s: %w", st.Call.Undo, f.Name, err)
			}
		}
		return nil
	}
}

// leaseHolder extends a lease while a function runs.
type leaseHolder struct {
	done chan struct{} // closed by stop
	over chan struct{} // closed when the goroutine has ended
	lost bool
	once bool
}

// keepLease extends the lease at every third of it until ctx ends or stop is
// called. Where it is another's, it calls cancel.
func (w *work) keepLease(ctx context.Context, cancel context.CancelFunc) *leaseHolder {
	h := &leaseHolder{done: make(chan struct{}), over: make(chan struct{})}
	lease := w.lease()
	st := extendWork.with(append([][]byte{seconds(lease)}, w.fence()[:4]...)...)
	go func() {
		defer close(h.over)
		ticker := time.NewTicker(lease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-h.done:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if met, err := w.aside(ctx, st); err == nil && !met {
				h.lost = true
				cancel()
				return
			}
		}
	}()
	return h
}

// stop ends the extending, and reports whether the lease is still there, as far as
// is known.
func (h *leaseHolder) stop() bool {
	if !h.once {
		h.once = true
		close(h.done)
		<-h.over
	}
	return !h.lost
}

package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// lane is one sink's share of a runner, so that a slow one holds up no other. All
// its fields are guarded by the runner's mu.
type lane struct {
	r       *runner
	sink    Sink
	queue   []*group
	workers int
	held    int  // events leased, and not settled
	asked   int  // how many the last claim asked for
	more    bool // there may be more due than it got
}

// group are events that are delivered one after the other.
type group struct{ events []*held }

// held is an event that is leased.
type held struct {
	Event
	lane    *lane
	owner   string
	attempt int32

	// Guarded by the runner's mu.
	until  time.Time // the end of the lease, by the clock of this process
	lost   bool
	cancel context.CancelCauseFunc // of its delivery; nil: none is running
}

// start makes as many workers as there is work for.
func (l *lane) start() {
	for len(l.queue) > 0 && l.workers < l.r.set.concurrency {
		l.workers++
		g := l.queue[0]
		l.queue = l.queue[1:]
		l.r.work.Go(func() { l.work(g) })
	}
}

// work delivers groups until there is none.
func (l *lane) work(g *group) {
	for g != nil {
		l.r.deliverAll(g)
		g = l.take()
	}
}

func (l *lane) take() *group {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if len(l.queue) == 0 {
		l.workers--
		return nil
	}
	g := l.queue[0]
	l.queue = l.queue[1:]
	return g
}

// deliverAll delivers a group in its order. Where one fails, those behind it are
// given back: the next claim puts them off until it is done.
func (r *runner) deliverAll(g *group) {
	for i, h := range g.events {
		ctx, ok := r.begin(h)
		if !ok {
			r.mu.Lock()
			r.release(&group{events: g.events[i:]})
			r.mu.Unlock()
			return
		}
		o := r.deliver(ctx, h)
		o.last = i == len(g.events)-1
		r.mu.Lock()
		r.busy--
		h.cancel(nil)
		h.cancel = nil
		r.settle(o)
		if o.status != Processed {
			r.release(&group{events: g.events[i+1:]})
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
	}
}

// begin makes the context of a delivery, unless the event is no longer its own.
func (r *runner) begin(h *held) (context.Context, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping || h.lost || !time.Now().Before(h.until) {
		return nil, false
	}
	var ctx context.Context
	ctx, h.cancel = context.WithCancelCause(r.base)
	r.busy++
	return ctx, true
}

// deliver calls the sink, and decides what becomes of the event.
func (r *runner) deliver(ctx context.Context, h *held) *outcome {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, r.set.timeout)
	defer cancel()
	answer, err := r.call(limited, h)
	o := &outcome{held: h, answer: kept(answer), took: time.Since(began), told: true}
	permanent, after := what(err)
	switch {
	case err == nil:
		o.status, o.result = Processed, OutcomeDispatched
		return o
	case permanent:
		o.dead(reasonOf(err))
		return o
	case ctx.Err() != nil: // the lease is lost, or the dispatcher stops
		o.status, o.result = Pending, OutcomeReleased
		return o
	case errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil:
		err = fmt.Errorf("the delivery did not end within %s", r.set.timeout)
	}
	failures := h.Try
	if failures >= r.set.tries {
		o.dead(fmt.Sprintf("the last of %d tries failed: %s", failures, reasonOf(err)))
		return o
	}
	o.status, o.result, o.reason, o.wait = Pending, OutcomeRetry, reasonOf(err), waitAfter(failures, after)
	return o
}

// patience is how long a sink may go on after its context has ended. Then it is
// left alone, and the event is tried again.
const patience = 5 * time.Second

// call is a sink's Deliver, which may panic, end its goroutine or never return: a
// lane must not lose its worker for it.
func (r *runner) call(ctx context.Context, h *held) (Answer, error) {
	type reply struct {
		answer Answer
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		got := reply{err: errors.New("the sink ended its goroutine")}
		defer func() {
			if v := recover(); v != nil {
				got.err = errPanic(v)
				r.set.logger.ErrorContext(ctx, "the sink panicked", "topic", h.Topic, "event", h.ID, "error", v, "stack", string(debug.Stack()))
			}
			replies <- got
		}()
		got.answer, got.err = h.lane.sink.Deliver(ctx, h.Event)
		got.err = told(got.err)
	}()
	select {
	case got := <-replies:
		return got.answer, got.err
	case <-ctx.Done():
	}
	select {
	case got := <-replies:
		return got.answer, got.err
	case <-time.After(patience):
		return Answer{}, errors.New("the sink goes on although its context has ended")
	}
}

package outbox

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/gen"
)

// outcome is what becomes of an event that was leased.
type outcome struct {
	*held
	status Status
	result Outcome
	wait   time.Duration // until the next try, where it is Pending
	answer Answer
	reason string
	last   bool // of its group
	took   time.Duration
	told   bool // it was delivered, so that observers hear of it
}

func (o *outcome) dead(reason string) {
	o.status, o.result, o.reason = Dead, OutcomeDead, reason
}

// settle hands an outcome to the goroutine that writes it. The caller has mu.
func (r *runner) settle(o *outcome) {
	r.outcomes = append(r.outcomes, o)
	signal(r.ended)
}

// release gives events back that were not begun. The caller has mu.
func (r *runner) release(g *group) {
	for _, h := range g.events {
		r.settle(&outcome{held: h, status: Pending, result: OutcomeReleased})
	}
}

// maxSettled is how many outcomes one statement writes.
const maxSettled = 500

// settlements writes outcomes as they come, as many at once as came meanwhile,
// until it is stopped and nothing is left.
func (r *runner) settlements(stopped <-chan struct{}) {
	for {
		batch := r.takeOutcomes()
		if len(batch) > 0 {
			if !r.write(batch, stopped) {
				return
			}
			continue
		}
		select {
		case <-r.ended:
			continue
		case <-stopped:
		}
		if r.nothingLeft() {
			return
		}
	}
}

func (r *runner) takeOutcomes() []*outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.outcomes), maxSettled)
	batch := r.outcomes[:n:n]
	r.outcomes = r.outcomes[n:]
	return batch
}

func (r *runner) nothingLeft() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.outcomes) == 0
}

// write writes a batch, again and again until it succeeds: a lease that ends
// meanwhile does no harm. Once stopped it tries for the time of grace, and
// reports false where that was in vain.
func (r *runner) write(batch []*outcome, stopped <-chan struct{}) bool {
	var deadline <-chan time.Time
	for pause := 50 * time.Millisecond; ; pause = min(pause*2, 2*time.Second) {
		err := r.writeOnce(batch)
		if err == nil {
			return true
		}
		r.set.logger.ErrorContext(r.base, "outcomes can't be written", "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-deadline:
			timer.Stop()
			return false
		}
		select {
		case <-stopped:
			if deadline == nil {
				deadline = time.After(r.set.grace)
			}
		default:
		}
	}
}

// writeOnce writes a batch in one transaction, and then tells of it.
func (r *runner) writeOnce(batch []*outcome) error {
	arg := settleParams(batch)
	var ids []string
	err := func() error {
		r.writing.Lock()
		defer r.writing.Unlock()
		err := r.tx(func(ctx context.Context, q *gen.Queries) (err error) {
			ids, err = q.SettleEvents(ctx, arg)
			return err
		})
		if err == nil {
			r.forget(batch, ids)
		}
		return err
	}()
	if err != nil {
		return err
	}
	r.tell(batch)
	return nil
}

func settleParams(batch []*outcome) gen.SettleEventsParams {
	var p gen.SettleEventsParams
	for _, o := range batch {
		p.Scopes = append(p.Scopes, o.Scope)
		p.Ids = append(p.Ids, o.ID)
		p.Owners = append(p.Owners, o.owner)
		p.Attempts = append(p.Attempts, o.attempt)
		p.Statuses = append(p.Statuses, string(o.status))
		p.Waits = append(p.Waits, o.wait.Microseconds())
		p.Failed = append(p.Failed, failure(o.result))
		p.Answers = append(p.Answers, int32(o.answer.Status))
		p.AnswerHeaders = append(p.AnswerHeaders, headerText(o.answer.Header))
		p.AnswerBodies = append(p.AnswerBodies, o.answer.Content)
		p.Reasons = append(p.Reasons, o.reason)
		p.Lasts = append(p.Lasts, o.last)
	}
	return p
}

func failure(result Outcome) int32 {
	if result == OutcomeRetry || result == OutcomeDead {
		return 1
	}
	return 0
}

// forget makes room for others, and wakes whoever waits for that.
func (r *runner) forget(batch []*outcome, ids []string) {
	written := make(map[string]bool, len(ids))
	for _, id := range ids {
		written[id] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written += len(batch)
	var room, more bool
	for _, o := range batch {
		delete(r.held, o.held)
		more = more || o.result == OutcomeReleased || o.last && o.Ordered // others may go on
		o.lane.held--
		room = room || o.lane.held <= r.set.batch/2 && o.lane.more || len(r.held) == 0
		if o.told && !written[o.ID] {
			o.result = OutcomeLate
		}
		r.count(o)
	}
	if room {
		signal(r.freed)
	}
	if more {
		signal(r.woken)
		signal(r.freed)
	}
}

// count adds to what was done. The caller has mu.
func (r *runner) count(o *outcome) {
	switch o.result {
	case OutcomeDispatched:
		r.done.Processed++
	case OutcomeDead:
		r.done.Dead++
	case OutcomeRetry:
		r.done.Failed++
		if at := time.Now().Add(o.wait); r.next.IsZero() || at.Before(r.next) {
			r.next = at
		}
	}
}

// tell tells of outcomes once they are written.
func (r *runner) tell(batch []*outcome) {
	var digests []string
	for _, o := range batch {
		if !o.told {
			continue
		}
		r.log(o)
		if r.d.Observer != nil {
			r.guard("the observer panicked", func() { r.d.Observer.DeliveryEnded(r.base, o.end(r.name)) })
		}
		if o.result != OutcomeDispatched && o.result != OutcomeDead {
			continue
		}
		if r.d.Ended != nil {
			r.guard("Dispatcher.Ended panicked", func() {
				r.d.Ended(r.base, o.Event, End{Status: o.status, Answer: o.answer, Reason: o.reason})
			})
		}
		digests = append(digests, digestOf(o.Scope, o.Key))
	}
	r.d.release(digests)
	if r.d.Notify {
		r.notifyEnded(digests)
	}
}

func (r *runner) log(o *outcome) {
	switch o.result {
	case OutcomeDead:
		r.set.logger.ErrorContext(r.base, "event is dead", "topic", o.Topic, "event", o.ID, "try", o.Try, "reason", o.reason)
	case OutcomeRetry:
		r.set.logger.WarnContext(r.base, "delivery failed", "topic", o.Topic, "event", o.ID, "try", o.Try, "wait", o.wait, "reason", o.reason)
	case OutcomeLate:
		r.set.logger.WarnContext(r.base, "a delivery ended after its lease was lost", "topic", o.Topic, "event", o.ID, "try", o.Try)
	}
}

func (o *outcome) end(database string) DeliveryEnd {
	return DeliveryEnd{Database: database, Topic: o.Topic, Operation: o.Operation, Outcome: o.result,
		Status: o.answer.Status, Try: o.Try, Duration: o.took, Age: time.Since(o.CreatedAt)}
}

func (r *runner) guard(message string, call func()) {
	defer func() {
		if v := recover(); v != nil {
			r.set.logger.ErrorContext(r.base, message, "error", v, "stack", string(debug.Stack()))
		}
	}()
	call()
}

// maxContent is how much of an answer is kept, in bytes.
const maxContent = 64 << 10

// kept is an answer as PostgreSQL takes it. Content that is too long, or no text,
// is left out, never cut.
func kept(a Answer) Answer {
	out := Answer{Status: a.Status}
	if a.Status < 0 || a.Status > 999 {
		out.Status = 0
	}
	if fits(a.Content, maxContent) {
		out.Content = a.Content
	}
	for name, value := range a.Header {
		if fits(name, 256) && fits(value, 4096) {
			if out.Header == nil {
				out.Header = map[string]string{}
			}
			out.Header[name] = value
		}
	}
	return out
}

func fits(text string, limit int) bool {
	return len(text) <= limit && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

func headerText(header map[string]string) string {
	if len(header) == 0 {
		return ""
	}
	text, err := json.Marshal(header)
	if err != nil { // a map of texts never fails
		return ""
	}
	return string(text)
}

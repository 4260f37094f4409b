package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

// start runs an invocation apart from the caller: its work is bounded by the
// operation's timeout, not by the client's connection. The channel gives the
// answer, once.
func (s *Service) start(ctx context.Context, inv *invocation) <-chan *answer {
	done := make(chan *answer, 1)
	s.work.add()
	go func() {
		defer s.work.done()
		growStack()
		s.deliver(ctx, inv, done)
	}()
	return done
}

// deliver runs an invocation. Whatever the functions of the service do that are
// called meanwhile, be it runtime.Goexit, the client gets an answer, and a panic
// does not end the process.
func (s *Service) deliver(ctx context.Context, inv *invocation, done chan<- *answer) {
	var ans *answer
	defer func() {
		_ = recover() // of who was told
		done <- ans
	}()
	defer func() {
		if ans == nil { // the answer to a panic has failed as well
			_ = recover()
			ans = s.lastResort(inv)
			inv.told(ans)
		}
	}()
	defer func() {
		if p := recover(); ans == nil {
			ans = s.breakdown(ctx, inv, endedBy(p))
			inv.told(ans)
		}
	}()
	ans = s.authorized(ctx, inv, s.execute(context.WithoutCancel(ctx), inv))
	inv.told(ans)
}

// endedBy is why the work ended without an answer.
func endedBy(p any) error {
	if p == nil {
		return errors.New("idem: a function of the service ended its goroutine (runtime.Goexit)")
	}
	return panicError(p)
}

// lastResort is a 500 that asks nobody for its form.
func (s *Service) lastResort(inv *invocation) *answer {
	e := errInternal(nil)
	contentType, body := s.protocol.refusal(s.problemOf(e, newInstance(), inv.client))
	return &answer{status: e.Status, headers: map[string]string{"Content-Type": contentType}, body: body, err: e}
}

// growStack gives a new goroutine at once the stack that a request takes. It
// would grow in several steps otherwise, each copying what is on it: a tenth of
// the time that a request takes here.
//
//go:noinline
func growStack() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}

// patience is how long a client waits for an answer: the timeout, the wait for
// the claim, in memory and in the database.
func (inv *invocation) patience() time.Duration {
	return inv.op.Policy.Timeout + 2*inv.wait()
}

// execute claims, runs and records, or replays. It always gives an answer.
func (s *Service) execute(ctx context.Context, inv *invocation) (ans *answer) {
	defer func() {
		if p := recover(); p != nil {
			ans = s.fault(ctx, inv, panicError(p))
		}
	}()
	if inv.keyed() {
		leave, ok := s.flights.enter(ctx, inv.flight(), inv.turn())
		if !ok {
			return s.turnedAway(ctx, inv)
		}
		defer leave()
	}
	inv.deadline = time.Now().Add(inv.op.Policy.Timeout + inv.wait())
	switch {
	case inv.op.Async:
		return s.accept(ctx, inv)
	case inv.op.calls:
		return s.runCalls(ctx, inv)
	}
	return s.attempts(ctx, inv)
}

// lookTime bounds the look-up of a request that is turned away: it is answered
// at once, also where the pool has no connection left.
const lookTime = 250 * time.Millisecond

// turnedAway answers a request whose turn did not come. A copy of it runs in this
// process, or is being replayed: then there is a record.
func (s *Service) turnedAway(ctx context.Context, inv *invocation) *answer {
	if inv.forced {
		return s.refuse(inv, errInFlight())
	}
	looking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if inv.op.durable() {
		return s.turnedAwayFrom(looking, inv)
	}
	if found, err := s.find(looking, inv); err == nil && found != nil {
		return s.judge(inv, found)
	}
	return s.refuse(inv, errInFlight())
}

func panicError(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// attempts runs the operation until an attempt ends in an answer.
func (s *Service) attempts(ctx context.Context, inv *invocation) *answer {
	var tries tries
	for {
		inv.seen.attempt()
		ans, failed := s.attempt(ctx, inv, &tries)
		if failed == nil {
			if !ans.replayed {
				s.wake(ctx, inv, ans)
			}
			return s.judge(inv, ans)
		}
		if ans = s.overcome(ctx, inv, failed, &tries); ans != nil {
			return ans
		}
		inv.seen.retry(failed, tries.why)
	}
}

// attempt is one transaction by the operation's strategy.
func (s *Service) attempt(ctx context.Context, inv *invocation, tries *tries) (*answer, *failure) {
	acquiring, cancel := context.WithDeadline(ctx, inv.deadline)
	defer cancel()
	c, err := inv.pool.acquire(acquiring, tries.fresh == 0)
	if err != nil {
		return nil, &failure{err: err, step: unknownStep}
	}
	return s.attemptOn(ctx, c, inv)
}

// attemptOn gives the connection back, also where a handler ends its goroutine.
func (s *Service) attemptOn(ctx context.Context, c *conn, inv *invocation) (ans *answer, failed *failure) {
	defer func() {
		if ans == nil && failed == nil || failed != nil && isStale(failed.err) {
			c.discard(ctx)
		} else {
			c.release()
		}
	}()
	ans, failed = s.runStrategy(ctx, c, inv)
	if failed != nil {
		failed.lost = c.isClosed()
	}
	return ans, failed
}

// runStrategy runs the attempt on c. A panic is a failure like any other, so
// that the connection is given back.
func (s *Service) runStrategy(ctx context.Context, c *conn, inv *invocation) (ans *answer, failed *failure) {
	defer func() {
		if p := recover(); p != nil {
			ans, failed = nil, &failure{err: panicError(p), step: unknownStep}
		}
	}()
	switch {
	case inv.handler != nil || inv.op.Strategy == Stepped:
		return s.runStepped(ctx, c, inv)
	case !inv.keyed():
		return s.runUnkeyed(ctx, c, inv)
	case inv.forced:
		return s.runForced(ctx, c, inv)
	case inv.op.Strategy == Verbatim:
		return s.runVerbatim(ctx, c, inv)
	}
	return s.runFused(ctx, c, inv)
}

// judge turns a replay into what this request may see of it.
func (s *Service) judge(inv *invocation, ans *answer) *answer {
	if !ans.replayed {
		return ans
	}
	if parts := fingerprintDiff(ans.print, inv.print); len(parts) > 0 {
		return s.refuse(inv, s.protocol.errKeyReused(parts))
	}
	s.unseal(inv, ans)
	if !ans.gone {
		return ans
	}
	refusal := s.refuse(inv, errNotStored())
	refusal.wasDone = !ans.isProblem()
	if location := ans.headers["Location"]; location != "" {
		refusal.headers["Location"] = location
	}
	refusal.replayed = true
	return refusal
}

// refuse is an error as the answer of this invocation.
func (s *Service) refuse(inv *invocation, e *Error) *answer {
	if inv.forced {
		e.forForced()
	}
	if e.cause != nil && e.Status == http.StatusServiceUnavailable {
		s.logger.Warn("operation unavailable", "operation", inv.op.stored, "request", inv.occurrence(), "error", e.cause)
	}
	return s.answerOf(e, inv.occurrence(), inv.client)
}

// fault is the answer to what should not happen, which goes to the log, and to
// the client without a word of it.
// Where the policy keeps it, it is recorded: after the rollback, unless the key
// has a record by then.
func (s *Service) fault(ctx context.Context, inv *invocation, cause error) *answer {
	keep := inv.op.Policy.ServerError
	if keep <= 0 || !inv.keyed() {
		return s.breakdown(ctx, inv, cause)
	}
	s.logFault(ctx, inv, cause)
	e := errInternal(cause)
	e.permanent = true
	made := s.refuse(inv, e)
	ans := s.record(ctx, inv, made, keep)
	if ans == made && !ans.stored { // it is not what the next try will meet
		return s.refuse(inv, errInternal(cause))
	}
	return ans
}

// breakdown is fault where the next try may well succeed: it is never recorded.
func (s *Service) breakdown(ctx context.Context, inv *invocation, cause error) *answer {
	s.logFault(ctx, inv, cause)
	return s.refuse(inv, errInternal(cause))
}

func (s *Service) logFault(ctx context.Context, inv *invocation, cause error) {
	s.logger.ErrorContext(ctx, "operation failed", "operation", inv.op.stored,
		"request", inv.occurrence(), "error", cause)
}

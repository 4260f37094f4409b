package idem

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// watch is what is told about one request. A nil one tells nobody, and costs
// nothing.
type watch struct {
	s         *Service
	ctx       context.Context
	stored    string // the operation's name in the key table
	start     OperationStart
	began     time.Time
	attempts  atomic.Int32
	abandoned atomic.Bool
	ended     atomic.Bool
}

// watch begins to tell about a request; nil if nobody listens.
func (s *Service) watch(ctx context.Context, op *operation) *watch {
	if s.observer == nil && !s.logger.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	w := &watch{s: s, ctx: ctx, stored: op.stored, began: time.Now(), start: OperationStart{
		Service: s.cfg.Service, Operation: op.Name, Strategy: op.Strategy, Method: op.Method, Path: op.Path,
	}}
	if o, ok := s.observer.(StartObserver); ok {
		s.guarded(ctx, func() {
			if derived := o.OperationStarted(ctx, w.start); derived != nil {
				w.ctx = derived
			}
		})
	}
	return w
}

// context is that of the observer's start, or else the given one.
func (w *watch) context(ctx context.Context) context.Context {
	if w == nil {
		return ctx
	}
	return w.ctx
}

// request is the request with the context of the observer's start.
func (w *watch) request(r *http.Request) *http.Request {
	if w == nil {
		return r
	}
	return r.WithContext(w.ctx)
}

// abandon notes that nobody waits for the answer any more.
func (w *watch) abandon() {
	if w != nil {
		w.abandoned.Store(true)
	}
}

// attempt counts one.
func (w *watch) attempt() {
	if w != nil {
		w.attempts.Add(1)
	}
}

// retry tells that the attempt failed and is followed by another.
func (w *watch) retry(f *failure) {
	if w == nil {
		return
	}
	if o, ok := w.s.observer.(RetryObserver); ok {
		retry := OperationRetry{OperationStart: w.start, Reason: reasonOf(f), SQLState: sqlState(f.err), Attempt: int(w.attempts.Load())}
		w.s.guarded(w.ctx, func() { o.OperationRetried(w.ctx, retry) })
	}
}

// end tells how the request ended, at its first call. Inv is nil where it was
// refused before it was understood.
func (w *watch) end(inv *invocation, ans *answer) {
	if w == nil || !w.ended.CompareAndSwap(false, true) {
		return
	}
	end := OperationEnd{
		OperationStart: w.start, Event: eventOf(inv, ans), Status: w.s.protocol.statusOf(ans), Duration: time.Since(w.began),
		Attempts: int(w.attempts.Load()), Abandoned: w.abandoned.Load(),
	}
	if ans.err != nil {
		end.Code = ans.err.Code
	}
	if inv != nil && inv.keyed() {
		end.KeyDigest = hex.EncodeToString(inv.digest[:4])
	}
	w.s.logEnd(w.ctx, w.stored, &end)
	if o := w.s.observer; o != nil {
		w.s.guarded(w.ctx, func() { o.OperationEnded(w.ctx, end) })
	}
}

// logEnd is the one line per request, for who wants that much.
func (s *Service) logEnd(ctx context.Context, operation string, end *OperationEnd) {
	if !s.logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	s.logger.LogAttrs(ctx, slog.LevelDebug, "operation ended",
		slog.String("operation", operation), slog.String("event", string(end.Event)),
		slog.Int("status", end.Status), slog.String("code", end.Code), slog.String("strategy", string(end.Strategy)),
		slog.Duration("duration", end.Duration), slog.Int("attempts", end.Attempts), slog.Bool("abandoned", end.Abandoned),
		slog.String("key_digest", end.KeyDigest))
}

// guarded calls an observer, whose panics must not reach the request.
func (s *Service) guarded(ctx context.Context, call func()) { guard(ctx, s.logger, call) }

func guard(ctx context.Context, logger *slog.Logger, call func()) {
	defer func() {
		if p := recover(); p != nil {
			logger.ErrorContext(ctx, "the observer panicked", "error", panicError(p))
		}
	}()
	call()
}

// eventOf is what an answer means; docs/operations.md has it as a table.
func eventOf(inv *invocation, ans *answer) Event {
	switch {
	case ans.event != "":
		return ans.event
	case ans.replayed:
		return EventDuplicate
	case ans.err != nil && ans.err.event != "":
		return ans.err.event
	case ans.status >= 500:
		return EventServerError
	case ans.status >= 400:
		return EventClientError
	case inv != nil && inv.forced:
		return EventForceRetry
	}
	return EventNew
}

// statusOf is the status that the client gets.
func (p *protocol) statusOf(ans *answer) int {
	if p.acceptsRunning && ans.isInFlight() {
		return http.StatusOK
	}
	return ans.status
}

func reasonOf(f *failure) RetryReason {
	switch code := sqlState(f.err); {
	case isUnsent(f.err):
		return RetryUnsent
	case code == "40001":
		return RetrySerialization
	case code == "40P01":
		return RetryDeadlock
	case isStale(f.err):
		return RetryStaleStatement
	case code == "" && f.lost:
		return RetryLostConnection
	}
	return RetryVanished
}

// tell tells of a sweep of Run.
func (s *Sweeper) tell(ctx context.Context, end SweepEnd) {
	if o, ok := s.Observer.(SweepObserver); ok {
		end.Database = databaseOf(s.Pool.Config().ConnConfig)
		guard(ctx, s.Logger, func() { o.KeysSwept(ctx, end) })
	}
}

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
	ctx       context.Context // of the observers' start
	derived   bool            // ctx may be another one than the request's
	stored    string          // the operation's name in the key table
	start     OperationStart
	began     time.Time
	attempts  atomic.Int32
	abandoned atomic.Bool
	ended     atomic.Bool

	background bool // no request waits for it
}

// watch begins to tell about a request; nil if nobody listens.
func (s *Service) watch(ctx context.Context, op *operation) *watch {
	if s.observers == nil && !s.logger.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	w := &watch{s: s, ctx: ctx, stored: op.stored, began: time.Now(), start: OperationStart{
		Service: s.cfg.Service, Operation: op.Name, Strategy: op.Strategy, Method: op.Method, Path: op.Path,
	}}
	if s.observers != nil && s.observers.begins {
		w.ctx, w.derived = valuesOf(ctx, s.observers.OperationStarted(ctx, w.start)), true
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
	if w == nil || !w.derived {
		return r
	}
	return r.WithContext(w.ctx)
}

// abandon notes that nobody waits for the answer any more; a context that has
// ended says so itself.
func (w *watch) abandon() {
	if w != nil {
		w.abandoned.Store(true)
	}
}

// inBackground notes that the completer does it.
func (w *watch) inBackground() {
	if w != nil {
		w.background = true
	}
}

// attempt counts one.
func (w *watch) attempt() {
	if w != nil {
		w.attempts.Add(1)
	}
}

// retry tells that the attempt failed and is followed by another.
func (w *watch) retry(f *failure, why RetryReason) {
	if w == nil || w.s.observers == nil {
		return
	}
	w.s.observers.OperationRetried(w.ctx, OperationRetry{
		OperationStart: w.start, Reason: why, SQLState: sqlState(f.err), Attempt: int(w.attempts.Load()),
	})
}

// end tells how the request ended, at its first call. Inv is nil where it was
// refused before it was understood.
func (w *watch) end(inv *invocation, ans *answer) {
	if w == nil || !w.ended.CompareAndSwap(false, true) {
		return
	}
	end := OperationEnd{
		OperationStart: w.start, Event: eventOf(inv, ans), Status: w.s.protocol.statusOf(ans), Duration: time.Since(w.began),
		Attempts: int(w.attempts.Load()), Abandoned: w.abandoned.Load() || w.ctx.Err() != nil, Background: w.background,
	}
	if ans.err != nil {
		end.Code = ans.err.Code
	}
	if inv != nil && inv.keyed() {
		end.KeyDigest = hex.EncodeToString(inv.digest[:4])
	}
	w.s.logEnd(w.ctx, w.stored, &end)
	if w.s.observers != nil {
		w.s.observers.OperationEnded(w.ctx, end)
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

// eventOf is what an answer means; docs/operations.md has it as a table.
func eventOf(inv *invocation, ans *answer) Event {
	switch {
	case ans.event != "":
		return ans.event
	case ans.replayed:
		return EventDuplicate
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
	if p.acceptsRunning && ans.event == EventProcessing {
		return http.StatusOK
	}
	return ans.status
}

package idem

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// handler serves one operation over HTTP. The order of its checks is fixed:
// who, what form, which key, which values; nothing of that is stored.
type handler struct {
	s       *Service
	op      *operation
	escaped bool // the router gives path parameters as they were sent
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := h.s.watch(r.Context(), h.op)
	r = seen.request(r)
	defer h.recover(w, r, seen)
	if !h.takes(r.Method) {
		w.Header().Set("Allow", h.op.Method)
		h.refuse(w, r, seen, &Error{Status: http.StatusMethodNotAllowed, Code: "method-not-allowed", Title: "Method not allowed"}, "")
		return
	}
	inv, refused := h.admit(w, r)
	if refused != nil {
		key, _ := h.clientKey(r)
		h.refuse(w, r, seen, refused, key)
		return
	}
	inv.seen = seen
	inv.stays = true
	ans, err := h.s.serve(r.Context(), inv)
	if err != nil {
		ans = h.s.unfinished(err, newInstance(), inv.client, inv.forced)
	}
	h.respond(w, r, ans, inv.client, inv.keyed())
}

// serve runs an invocation whose inputs have been read, checks included.
func (s *Service) serve(ctx context.Context, inv *invocation) (*answer, error) {
	refused := inv.op.decoder.check(inv.values)
	if refused == nil {
		return s.await(ctx, inv)
	}
	// A deploy may have made a check stricter: what was done stays done.
	looking := ctx
	if inv.stays {
		looking = context.WithoutCancel(ctx)
	}
	if inv.op.calls && inv.keyed() {
		if met, err := s.lookFor(looking, inv); err == nil && met != nil && met.ans == nil {
			return inv.told(s.barred(inv, met)), nil // it goes on with what it was given
		}
	}
	found, err := s.find(looking, inv)
	if err != nil { // whether it was done is not known
		return inv.told(s.refuse(inv, errUnavailable(err))), ctx.Err()
	}
	if found != nil && len(fingerprintDiff(found.print, inv.print)) == 0 {
		return inv.told(s.authorized(ctx, inv, s.judge(inv, found))), nil
	}
	return inv.told(s.refuse(inv, refused)), nil
}

// await starts the work and waits for its answer, as long as ctx and the
// operation's timeout allow. The work goes on in either case.
func (s *Service) await(ctx context.Context, inv *invocation) (*answer, error) {
	client, name, seen, forced, stays := inv.client, inv.op.stored, inv.seen, inv.forced, inv.stays // inv is the worker's from here on
	timer := time.NewTimer(inv.patience())
	defer timer.Stop()
	done, left := s.start(ctx, inv), ctx.Done()
	for {
		select {
		case ans := <-done:
			return ans, nil
		case <-timer.C:
			seen.abandon()
			instance := newInstance()
			s.logger.WarnContext(ctx, "operation takes too long; it goes on", "operation", name, "request", instance)
			return s.unfinished(errors.New("idem: the operation took too long"), instance, client, forced), nil
		case <-left:
			if !stays || !errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			left = nil
		}
	}
}

// unfinished is the answer to a request whose work goes on without it.
func (s *Service) unfinished(cause error, instance, client string, forced bool) *answer {
	e := errUnavailable(cause)
	if forced {
		e.forForced()
	}
	return s.answerOf(e, instance, client)
}

// admit reads a request: caller, media type, size, syntax, types, key.
func (h *handler) admit(w http.ResponseWriter, r *http.Request) (*invocation, *Error) {
	values, err := h.s.caller(r)
	if err != nil {
		return nil, h.s.turnAway(r.Context(), h.op, err)
	}
	inv, refused := h.s.invoke(h.op, values)
	if refused != nil {
		return nil, refused
	}
	body, refused := h.op.readDocument(w, r)
	if refused != nil {
		return nil, refused
	}
	inv.values, refused = h.op.decoder.decode(request{
		path: h.pathOf(r), rawQuery: r.URL.RawQuery, header: r.Header, body: body, caller: h.op.callerOf(values),
	})
	if refused != nil {
		return nil, refused
	}
	key, refused := h.clientKey(r)
	if refused != nil {
		return nil, refused
	}
	inv.client = key
	if refused := inv.chooseKey(key, h.s.protocol); refused != nil {
		return nil, refused
	}
	if refused := h.force(r, inv); refused != nil {
		return nil, refused
	}
	inv.print = h.op.decoder.fingerprint(inv.values)
	if h.op.emits || h.op.runsGo() {
		inv.trace = traceOf(r.Context(), r.Header).json()
	}
	return inv, nil
}

// pathOf gives the path parameters, decoded.
func (h *handler) pathOf(r *http.Request) func(string) string {
	if !h.escaped || r.URL.RawPath == "" {
		return r.PathValue
	}
	return func(name string) string {
		value := r.PathValue(name)
		if decoded, err := url.PathUnescape(value); err == nil {
			return decoded
		}
		return value
	}
}

// clientKey is the key of the request, "" where the operation reads none.
func (h *handler) clientKey(r *http.Request) (string, *Error) {
	if h.op.Key.From != KeyHeader {
		return "", nil
	}
	return h.s.protocol.readKey(r.Header.Values(h.s.protocol.keyHeader))
}

func (h *handler) takes(method string) bool {
	return method == h.op.Method || method == http.MethodHead && h.op.Method == http.MethodGet
}

func (h *handler) refuse(w http.ResponseWriter, r *http.Request, seen *watch, e *Error, key string) {
	instance := newInstance()
	h.s.logRefused(r.Context(), h.op, instance, e)
	ans := h.s.answerOf(e, instance, key)
	seen.end(nil, ans)
	h.respond(w, r, ans, key, false)
}

// logRefused logs a fault that was met before the request was understood.
func (s *Service) logRefused(ctx context.Context, op *operation, instance string, e *Error) {
	if e.Status >= 500 {
		s.logger.ErrorContext(ctx, "request failed", "operation", op.stored, "request", instance, "error", errors.Unwrap(e))
	}
}

// recover answers a panic of the caller function; those of the operation are
// caught where it runs.
func (h *handler) recover(w http.ResponseWriter, r *http.Request, seen *watch) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		seen.end(nil, &answer{status: http.StatusInternalServerError})
		panic(p)
	default:
		h.refuse(w, r, seen, errInternal(panicError(p)), "")
	}
}

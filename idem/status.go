package idem

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/gen"
)

var findAsync = newQuery(gen.FindAsync)

// statusOf says how an async operation stands. An event of another scope, or of
// another operation, is as unknown as one that was never there.
func (s *Service) statusOf(ctx context.Context, inv *invocation, event string) (AsyncStatus, *Error) {
	id, fault := canonText(KindUUID, event, true)
	if fault != nil {
		return AsyncStatus{}, errEventUnknown()
	}
	results, err := inv.pool.sendAside(ctx, findAsync.with([]byte(inv.scope), []byte(id), []byte(inv.op.stored)))
	switch {
	case err != nil:
		return AsyncStatus{}, errUnavailable(err)
	case len(results[0].rows) == 0, otherPath(inv, results[0].rows[0]):
		return AsyncStatus{}, errEventUnknown()
	}
	status, ans, err := readStatus(id, results[0].rows[0])
	if err != nil {
		return status, errInternal(err)
	}
	if ans == nil {
		return status, nil
	}
	if judged := s.authorized(ctx, inv, ans); judged != ans {
		return AsyncStatus{}, judged.asError()
	}
	return status, nil
}

// otherPath reports whether a row of findAsync is of a request to another path than
// inv's, as far as fingerprints say. Inv has none where it is asked from Go.
func otherPath(inv *invocation, row [][]byte) bool {
	return slices.Contains(fingerprintDiff(bytesOfHex(row[5]), inv.print), printNames[0])
}

func errEventUnknown() *Error {
	return &Error{Status: http.StatusNotFound, Code: "event-unknown", Title: "No such event",
		Detail: "There is no such request of this caller, or its record has expired."}
}

// readStatus takes a row of findAsync, and gives the record where there is one.
func readStatus(event string, row [][]byte) (AsyncStatus, *answer, error) {
	status := AsyncStatus{EventID: event, Status: AsyncQueued}
	var err error
	if status.CreatedAt, err = time.Parse(time.RFC3339Nano, string(row[0])); err != nil {
		return status, nil, err
	}
	if isTrue(row[1]) {
		status.Status = AsyncRunning
	}
	code, err := strconv.Atoi(string(row[2]))
	if err != nil || code == 0 {
		return status, nil, err
	}
	ans, err := readAnswer([][]byte{[]byte("t"), row[2], row[3], row[4], nil})
	if err != nil {
		return status, nil, err
	}
	status.Status = AsyncDone
	if ans.isProblem() {
		status.Status = AsyncFailed
	}
	status.Response = &AsyncResponse{Status: ans.status, Headers: storable(ans.headers), Body: asJSON(ans.body)}
	return status, ans, nil
}

// asJSON is a body as a member of another: as a string where it is no JSON itself.
func asJSON(body []byte) json.RawMessage {
	if len(body) == 0 || json.Valid(body) {
		return body
	}
	return marshal(string(body))
}

// AsyncStatus says how an async operation stands that was accepted as event, which
// must be one of the caller's scope: otherwise it is an *Error with status 404 and
// code event-unknown. Where it has succeeded, its response is scanned into out.
func (s *Service) AsyncStatus(ctx context.Context, name Name, caller []any, event string, out []OutputColumn) (AsyncStatus, error) {
	op := s.operations[name]
	if op == nil || !op.Async {
		return AsyncStatus{}, fmt.Errorf("idem: the service has no async operation %q", name)
	}
	if len(caller) != len(s.cfg.Caller) {
		return AsyncStatus{}, fmt.Errorf("idem: %d caller values, not %d", len(caller), len(s.cfg.Caller))
	}
	inv, refused := s.invoke(op, caller)
	if refused != nil {
		return AsyncStatus{}, refused
	}
	status, refused := s.statusOf(ctx, inv, event)
	if refused != nil {
		return AsyncStatus{}, refused
	}
	if status.Status == AsyncDone && len(status.Response.Body) > 0 && len(out) > 0 {
		return status, scanOutput(status.Response.Body, out)
	}
	return status, nil
}

// StatusHandler serves the status of an async operation, at the operation's path
// with "/{event_id}" behind it: r.PathValue gives the event. It panics if the
// service has no such operation.
func (s *Service) StatusHandler(name Name) http.Handler {
	h := s.handler(name)
	if !h.op.Async {
		panic(fmt.Sprintf("idem: operation %s is not async", name))
	}
	return &statusHandler{h}
}

// EscapedStatusHandler is StatusHandler for the routers that EscapedHandler is for.
func (s *Service) EscapedStatusHandler(name Name) http.Handler {
	h := s.StatusHandler(name)
	h.(*statusHandler).escaped = true
	return h
}

type statusHandler struct{ *handler }

// ServeHTTP implements http.Handler.
func (h *statusHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recoverStatus(w, r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", http.MethodGet)
		h.answer(w, r, &Error{Status: http.StatusMethodNotAllowed, Code: "method-not-allowed", Title: "Method not allowed"})
		return
	}
	values, err := h.s.caller(r)
	if err != nil {
		h.answer(w, r, h.s.turnAway(r.Context(), h.op, err))
		return
	}
	inv, refused := h.s.invoke(h.op, values)
	if refused != nil {
		h.answer(w, r, refused)
		return
	}
	if inv.print, refused = h.pathPrint(r); refused != nil {
		h.answer(w, r, refused)
		return
	}
	status, refused := h.s.statusOf(r.Context(), inv, r.PathValue("event_id"))
	if refused != nil {
		h.answer(w, r, refused)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	h.respond(w, r, &answer{status: http.StatusOK, body: marshal(status)}, "", false)
}

// pathPrint is the fingerprint of the path's parameters, which are those of the request
// that was accepted. One that could not have been accepted has no event.
func (h *statusHandler) pathPrint(r *http.Request) ([]byte, *Error) {
	values := make([]Value, len(h.op.decoder.fields))
	var faults faultList
	h.op.decoder.decodePath(request{path: h.pathOf(r)}, values, &faults)
	if len(faults.fields) > 0 {
		return nil, errEventUnknown()
	}
	return h.op.decoder.fingerprint(values), nil
}

func (h *statusHandler) answer(w http.ResponseWriter, r *http.Request, e *Error) {
	instance := newInstance()
	h.s.logRefused(r.Context(), h.op, instance, e)
	h.respond(w, r, h.s.answerOf(e, instance, ""), "", false)
}

// recoverStatus answers a panic of the caller function.
func (h *statusHandler) recoverStatus(w http.ResponseWriter, r *http.Request) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		h.answer(w, r, errInternal(panicError(p)))
	}
}

package idem

import (
	"net/http"
	"strings"
	"time"
)

// retryAfter is what a client is told to wait.
const retryAfter = time.Second

func errInFlight() *Error {
	return &Error{Status: http.StatusConflict, Code: "in-flight", Title: "Request in flight",
		Detail: "A request with this idempotency key is still running, or rows that it needs are locked.", retryAfter: retryAfter,
		event: EventProcessing}
}

func errUnavailable(cause error) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Title: "Try again",
		Detail:     "The request could not be completed now. Sent again with the same key, it has one effect; without a key, look first.",
		retryAfter: retryAfter, cause: cause}
}

func errInternal(cause error) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "internal", Title: "Internal error", cause: cause}
}

// isInFlight tells the answer of errInFlight from all others.
func (a *answer) isInFlight() bool {
	return a.err != nil && a.err.Code == "in-flight" && a.err.retryAfter > 0
}

// errKeyReused names the parts of the request that differ, never their values.
func (p *protocol) errKeyReused(parts []string) *Error {
	e := &Error{Status: http.StatusUnprocessableEntity, Code: "key-reused", Title: "Idempotency key reused",
		Detail: "This key was used for another request; what differs: " + strings.Join(parts, ", ") + ".", event: EventMismatch}
	if p.reused != 0 {
		e.Status = p.reused
	}
	return e
}

func errNotStored() *Error {
	return &Error{Status: http.StatusConflict, Code: "response-not-stored", Title: "Response not stored",
		Detail: "The request was executed before; its response was not kept."}
}

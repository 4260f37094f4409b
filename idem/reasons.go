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

// errUnattended is the answer to a replay whose client left before anybody could
// say whether it may see it.
func errUnattended() *Error {
	e := errUnavailable(nil)
	e.event = EventDuplicate
	return e
}

func errInternal(cause error) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "internal", Title: "Internal error", cause: cause}
}

// errKeyReused names the parts of the request that differ, never their values.
func (p *protocol) errKeyReused(parts []string) *Error {
	return &Error{Status: p.reused, Code: "key-reused", Title: "Idempotency key reused",
		Detail: "This key was used for another request; what differs: " + strings.Join(parts, ", ") + ".", event: EventMismatch}
}

func errNotStored() *Error {
	return &Error{Status: http.StatusConflict, Code: "response-not-stored", Title: "Response not stored",
		Detail: "The request was executed before; its response was not kept."}
}

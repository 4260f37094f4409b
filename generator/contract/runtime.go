package contract

import (
	"net/http"
	"slices"
)

// runtimeProblem is a problem of the runtime's own rules (docs/semantics.md), as
// it words it; a test holds the two together.
func runtimeProblem(code string) Problem {
	for _, p := range runtimeProblems {
		if p.Code == code {
			return p
		}
	}
	panic("contract: no problem " + code) // a mistake in this package
}

// runtimeProblems are in the order in which a request can meet them. It is not
// changed.
var runtimeProblems = []Problem{
	{Status: http.StatusUnauthorized, Code: "unauthenticated", Title: "Authentication required"},
	{Status: http.StatusUnsupportedMediaType, Code: "media-type", Title: "Unsupported media type", Detail: "Send application/json."},
	{Status: http.StatusRequestEntityTooLarge, Code: "body-too-large", Title: "Request body too large"},
	{Status: http.StatusBadRequest, Code: "body-unreadable", Title: "The request body ended early"},
	{Status: http.StatusBadRequest, Code: "body-missing", Title: "The request has no body"},
	{Status: http.StatusBadRequest, Code: "body-malformed", Title: "The request body is not valid JSON"},
	{Status: http.StatusBadRequest, Code: "member-duplicate", Title: "A member is repeated"},
	{Status: http.StatusBadRequest, Code: "member-unknown", Title: "The body has members that the operation does not know"},
	{Status: http.StatusBadRequest, Code: "query-malformed", Title: "The query string can't be read"},
	{Status: http.StatusBadRequest, Code: "query-duplicate", Title: "The query string can't be read"},
	{Status: http.StatusBadRequest, Code: "query-unknown", Title: "The query has parameters that the operation does not know"},
	{Status: http.StatusBadRequest, Code: "header-duplicate", Title: "A header field can't be read"},
	{Status: http.StatusBadRequest, Code: "header-malformed", Title: "A header field can't be read"},
	{Status: http.StatusUnprocessableEntity, Code: "input-invalid", Title: "Some inputs are not valid"},
	{Status: http.StatusBadRequest, Code: "key-missing", Title: "Idempotency key missing"},
	{Status: http.StatusBadRequest, Code: "key-invalid", Title: "Invalid idempotency key"},
	{Status: http.StatusBadRequest, Code: "force-retry-invalid", Title: "Invalid X-Force-Retry", Detail: "It must be true or false, in one header line."},
	{Status: http.StatusBadRequest, Code: "force-retry-refused", Title: "This operation can't be forced"},
	{Status: http.StatusConflict, Code: "in-flight", Title: "Request in flight", Retryable: true,
		Detail: "A request with this idempotency key is still running, or rows that it needs are locked."},
	{Status: http.StatusConflict, Code: "response-not-stored", Title: "Response not stored",
		Detail: "The request was executed before; its response was not kept."},
	{Status: http.StatusUnprocessableEntity, Code: "key-reused", Title: "Idempotency key reused"},
	{Status: http.StatusConflict, Code: "intent-conflict", Title: "Already done",
		Detail: "There is a resource for this intent, made under another key."},
	{Status: http.StatusConflict, Code: "already-exists", Title: "Conflicts with an existing resource"},
	{Status: http.StatusConflict, Code: "still-referenced", Title: "Still referenced by another resource"},
	{Status: http.StatusUnprocessableEntity, Code: "reference-not-found", Title: "A referenced resource does not exist"},
	{Status: http.StatusUnprocessableEntity, Code: "invalid-value", Title: "Invalid value", Detail: "The database refuses one of the values."},
	{Status: http.StatusConflict, Code: "held", Title: "Held for an operator",
		Detail: "It is not known whether a call to another system was done, or it can't be done; an operator decides how this request goes on."},
	{Status: http.StatusConflict, Code: "given-up", Title: "Given up",
		Detail: "An operator has ended the request: it was not done."},
	{Status: http.StatusNotFound, Code: "event-unknown", Title: "No such event",
		Detail: "There is no such request of this caller, or its record has expired."},
	{Status: http.StatusInternalServerError, Code: "internal", Title: "Internal error", Retryable: true},
	{Status: http.StatusServiceUnavailable, Code: "unavailable", Title: "Try again", Retryable: true,
		Detail: "The request could not be completed now. Sent again with the same key, it has one effect; without a key, look first."},
}

// RuntimeProblems are the problems that any operation may have by the runtime's
// own rules, in the order in which a request can meet them.
func RuntimeProblems() []Problem { return slices.Clone(runtimeProblems) }

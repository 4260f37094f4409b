package idem

import "net/http"

// Delivery is a webhook's message, as its verifier reads it.
type Delivery struct {
	// ID names the message: the same in every repetition, and never used for
	// another one. The key is "webhook-SYSTEM-ID".
	ID string
	// Type chooses the operation.
	Type string
	// Scope is whose message it is; "": the system's.
	Scope string
	// JSON is the document that the operation's inputs are read from; nil: the body.
	JSON []byte
}

// Verifier says whether a webhook's delivery is authentic, and what it is. Package
// idem/webhook has those of known systems. It is called for every delivery, by many
// goroutines at once, before anything else is read of it.
//
// The body is the raw one, as it was sent; r.Body is empty. An error is answered with
// 401, an *Error with a status from 400 to 599 as it is. Its text goes to the log only.
type Verifier interface {
	Verify(r *http.Request, body []byte) (Delivery, error)
}

// VerifierFunc is a function as a [Verifier].
type VerifierFunc func(r *http.Request, body []byte) (Delivery, error)

// Verify calls f.
func (f VerifierFunc) Verify(r *http.Request, body []byte) (Delivery, error) { return f(r, body) }

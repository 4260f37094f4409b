package idem

import (
	"encoding/json"
	"net/http"
	"time"
)

// answer is what a request is answered with, and what a record keeps.
type answer struct {
	status   int
	headers  map[string]string // Content-Type only where it is not JSON
	body     []byte
	replayed bool
	// gone: the response of this record was not stored.
	gone bool
	// print is the fingerprint of the record that this is a replay of.
	print []byte

	retryAfter time.Duration // above 0: worth another try then
	stored     bool          // also where this is the first answer
	err        *Error        // what it was made from, where that was here and now
}

// isProblem tells a refusal from a response, whatever its status.
func (a *answer) isProblem() bool { return a.headers["Content-Type"] == problemType }

// asError is a refusal for callers from Go: also one from a record.
func (a *answer) asError() *Error {
	if a.err != nil {
		return a.err
	}
	e := &Error{Status: a.status}
	var p problem
	if json.Unmarshal(a.body, &p) == nil {
		e.Code, e.Title, e.Detail, e.Existing = p.Code, p.Title, p.Detail, p.Existing
		for _, field := range p.Errors {
			e.Fields = append(e.Fields, FieldError(field))
		}
	}
	return e
}

// meta is what is known about the answer beside its body.
func (a *answer) meta() Meta {
	header := http.Header{}
	for name, value := range storable(a.headers) {
		header.Set(name, value)
	}
	return Meta{Status: a.status, Replayed: a.replayed, Header: header}
}

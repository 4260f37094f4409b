package idem

import (
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
	// wasDone: this refusal is in place of a success whose response was not stored.
	wasDone bool
	// print is the fingerprint of the record that this is a replay of.
	print []byte
	// marked: a refusal in a form of its own, with this code; see problemMark.
	marked bool
	code   string

	retryAfter time.Duration // above 0: worth another try then
	pending    bool          // async: it is accepted, and not done yet
	stored     bool          // also where this is the first answer
	err        *Error        // what it was made from, where that was here and now
	event      Event         // where the status does not say it
	attempt    int           // of a record: how often its operation ran
}

// meta is what is known about the answer beside its body.
func (a *answer) meta() Meta {
	header := http.Header{}
	for name, value := range storable(a.headers) {
		header.Set(name, value)
	}
	return Meta{Status: a.status, Replayed: a.replayed, Header: header}
}

package idem

import (
	"errors"
	"fmt"
	"time"
)

// Error is an operation's own answer other than success: a client error with
// its problem members (RFC 9457). Service.Call returns it, and a Go handler
// returns one made by Fail to end the operation with a recorded client error.
type Error struct {
	Status int
	Code   string // stable word; the problem's type ends with it
	Title  string
	Detail string       // for people; never PostgreSQL's own text
	Fields []FieldError // one per field that was refused
	// Existing is the resource that is there already, as JSON; set for a
	// conflict of the business intent where it may be shown. What is no JSON text in
	// UTF-8 is logged and left out.
	Existing []byte

	retryAfter time.Duration // above 0: worth another try then
	permanent  bool          // recorded, though its status is above 499
	cause      error         // for logs only
	event      Event         // where the status does not say it
}

// FieldError says what is wrong with one field. Pointer is a JSON pointer
// (RFC 6901) into the body, or `path:NAME`, `query:NAME`, `header:NAME`, `caller:NAME`.
type FieldError struct {
	Pointer string
	Code    string
	Detail  string
}

// Error gives status, code and title in one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, e.Code)
	if e.Title != "" {
		text += ": " + e.Title
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	for i, f := range e.Fields {
		if i == 3 {
			return text + fmt.Sprintf(" (and %d more)", len(e.Fields)-i)
		}
		text += fmt.Sprintf("; %s %s", f.Pointer, f.Detail)
	}
	return text
}

// Unwrap gives the error behind it, for logs; nil for a declared answer.
func (e *Error) Unwrap() error { return e.cause }

// Fail makes a client error: the status (a 4xx), a stable code and a title.
func Fail(status int, code, title string) *Error {
	return &Error{Status: status, Code: code, Title: title}
}

// ownError finds the *Error in what a function of the service returned, which is
// the answer then. One that is nil, or whose status is no refusal, can't be: wrong
// says so.
func ownError(err error) (own *Error, wrong error) {
	switch {
	case !errors.As(err, &own):
		return nil, nil
	case own == nil:
		return nil, errors.New("idem: a nil *idem.Error was returned as an error")
	case own.Status < 400 || own.Status > 599:
		return nil, fmt.Errorf("idem: an *idem.Error with status %d was returned, not one from 400 to 599: %w", own.Status, err)
	}
	return own, nil
}

// CodeOf is the code of the *Error in err's chain, "" if there is none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) && e != nil {
		return e.Code
	}
	return ""
}

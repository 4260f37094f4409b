package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Error is a call without an answer: the last try broke, took too long, or the
// context ended. Unwrap gives the cause.
type Error struct {
	Operation string
	Key       string // that was sent; "" if none
	Tries     int
	// Unknown: a try may have been carried out. Repeating with the same key is safe
	// and tells; another key, or none, may do it twice.
	Unknown bool
	Err     error
}

// Error implements error. It names no key.
func (e *Error) Error() string {
	text := strings.TrimPrefix(e.Err.Error(), "client: ")
	if e.Tries > 1 {
		text = fmt.Sprintf("%s (after %d tries)", text, e.Tries)
	}
	if e.Operation != "" {
		text = e.Operation + ": " + text
	}
	return "client: " + text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Problem is an answer that is no success, read from RFC 9457's form, from the
// gateway profile's, or as far as it can be told from any other.
type Problem struct {
	Operation                           string
	Status                              int
	Code, Type, Title, Detail, Instance string
	// Retryable: the same request with the same key may be answered otherwise later.
	Retryable bool
	Key       string // of the call; "" if none
	Fields    []FieldError
	// Existing is the resource that an intent conflict is about; see [Decode].
	Existing json.RawMessage
	Header   http.Header
	Body     []byte // as it was sent, at most the first 64 KiB
	Tries    int
}

// FieldError is what is wrong with one input; Pointer is a JSON pointer (RFC 6901)
// into the body, or a place like /query/limit.
type FieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

// Error implements error. It holds neither key nor body.
func (p *Problem) Error() string {
	text := fmt.Sprintf("client: %s: %d", p.Operation, p.Status)
	if p.Operation == "" {
		text = fmt.Sprintf("client: %d", p.Status)
	}
	if p.Code != "" {
		text += " " + p.Code
	}
	if p.Title != "" {
		text += ": " + p.Title
	}
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// CodeOf is the code of the problem in err, "" if there is none.
func CodeOf(err error) string {
	var p *Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

// Decode reads JSON as a T, such as [Problem.Existing].
func Decode[T any](raw json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}

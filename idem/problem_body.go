package idem

import (
	"bytes"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

const problemType = "application/problem+json"

// problem is the wire form of an Error (RFC 9457).
type problem struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Status    int             `json:"status"`
	Detail    string          `json:"detail,omitempty"`
	Instance  string          `json:"instance"`
	Code      string          `json:"code"`
	Retryable bool            `json:"retryable"`
	Key       string          `json:"idempotency_key,omitempty"`
	Errors    []problemField  `json:"errors,omitempty"`
	Existing  json.RawMessage `json:"existing,omitempty"`
}

type problemField struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

// answerOf renders an error: as the service's own function does, or else the
// profile. Instance names this occurrence; key is the valid key that the client
// sent, "" if none.
func (s *Service) answerOf(e *Error, instance, key string) *answer {
	e = s.showable(e, instance)
	made, isOwn := s.ownRefusal(e, instance)
	if !isOwn {
		made.contentType, made.body = s.protocol.refusal(s.problemOf(e, instance, key))
	}
	ans := &answer{
		status: e.Status, headers: map[string]string{"Content-Type": made.contentType}, body: made.body,
		retryAfter: e.retryAfter, err: e, event: e.event,
	}
	if isOwn || made.contentType != problemType {
		ans.mark(e.Code)
	}
	return ans
}

// showable is an error without an Existing that is no JSON text: it comes from a
// function of the service then, and could be neither sent nor recorded.
func (s *Service) showable(e *Error, instance string) *Error {
	if len(e.Existing) == 0 || json.Valid(e.Existing) && utf8.Valid(e.Existing) {
		return e
	}
	s.logger.Error("Existing of an *idem.Error is not JSON; the answer is sent without it", "status", e.Status, "code", e.Code, "request", instance)
	shown := *e
	shown.Existing = nil
	return &shown
}

// ownRefusal is what Options.Problem makes of an error; false without it, and
// where it fails.
func (s *Service) ownRefusal(e *Error, instance string) (refusal, bool) {
	if s.own == nil {
		return refusal{}, false
	}
	made, err := s.own.refusal(e)
	if err != nil {
		s.logger.Error("Options.Problem failed; the default body is sent", "status", e.Status, "code", e.Code, "request", instance, "error", err)
	}
	return made, err == nil
}

// problemOf is the wire form of an error.
func (s *Service) problemOf(e *Error, instance, key string) problem {
	p := problem{
		Type: s.problemBase + e.Code, Title: e.Title, Status: e.Status, Detail: e.Detail,
		Instance: instance, Code: e.Code, Retryable: e.Retryable(), Key: key, Existing: e.Existing,
	}
	if p.Title == "" {
		p.Title = http.StatusText(e.Status)
	}
	for _, field := range e.Fields {
		p.Errors = append(p.Errors, problemField(field))
	}
	return p
}

// problemJSON is the body of a refusal in the profiles ietf and stripe.
func problemJSON(p problem) (contentType string, body []byte) { return problemType, marshal(p) }

// Retryable reports whether the same request with the same key may be answered
// otherwise: the member `retryable` of a problem, for bodies of Options.Problem.
func (e *Error) Retryable() bool {
	return e.retryAfter > 0 || e.Status == http.StatusTooManyRequests || e.Status >= 500 && !e.permanent
}

// marshal is JSON without HTML escapes.
func marshal(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // of texts, numbers and JSON that PostgreSQL made
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

package idem

import (
	"bytes"
	"encoding/json"
	"net/http"
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

// answerOf renders an error. Instance names this occurrence; key is the valid
// key that the client sent, "" if none.
func (s *Service) answerOf(e *Error, instance, key string) *answer {
	p := problem{
		Type: s.problemBase + e.Code, Title: e.Title, Status: e.Status, Detail: e.Detail,
		Instance: instance, Code: e.Code, Retryable: isRetryable(e), Key: key, Existing: e.Existing,
	}
	if p.Title == "" {
		p.Title = http.StatusText(e.Status)
	}
	for _, field := range e.Fields {
		p.Errors = append(p.Errors, problemField(field))
	}
	return &answer{
		status: e.Status, headers: map[string]string{"Content-Type": problemType}, body: marshal(p),
		retryAfter: e.retryAfter, err: e,
	}
}

// isRetryable: the same request with the same key may be answered otherwise.
func isRetryable(e *Error) bool {
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

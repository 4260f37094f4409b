package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Call is one call of an operation.
type Call struct {
	Operation string // its name, for errors
	Method    string
	Path      string // escaped, from "/" on; see [Path]
	Query     url.Values
	Header    http.Header
	// Body is the document: nil for none, a json.RawMessage as it is, all else by
	// encoding/json.
	Body any
	// Keyed: the operation reads the key header. Key, or one that is made for this
	// call, is sent with every try.
	Keyed   bool
	Key     string
	Options []CallOption
	// Redirects: the operation answers with a 3xx of its own. Of any other it is a
	// [*Problem]: something between has answered, and nothing is done.
	Redirects bool
	// Returns: every success has a body that is not null. One without is no answer of
	// the operation, and an [*Error].
	Returns bool
}

// CallOption changes one call.
type CallOption func(*callState)

type callState struct {
	Call
	meta  *Meta
	tries int
}

// WithKey sends this key in place of one that is made for the call: the one that you
// keep with the intent, or that [DeriveKey] gives. It has no effect on operations that
// read no key.
func WithKey(key string) CallOption { return func(s *callState) { s.Key = key } }

// WithHeader sends a header.
func WithHeader(name, value string) CallOption {
	return func(s *callState) { s.Header.Set(name, value) }
}

// WithMeta fills m when the call has ended, also where it fails.
func WithMeta(m *Meta) CallOption { return func(s *callState) { s.meta = m } }

// WithMaxTries replaces Options.MaxTries for one call.
func WithMaxTries(n int) CallOption { return func(s *callState) { s.tries = max(n, 1) } }

// WithForceRetry asks to run the operation again under the key it has, where the
// service allows it.
func WithForceRetry() CallOption { return WithHeader("X-Force-Retry", "true") }

// Call calls an operation and reads its answer into out, a pointer as for
// encoding/json, or nil. An answer without a body leaves out as it is. One that is
// cut short is a failed try, and repeated with the same key. A refusal is a
// [*Problem], a call without an answer an [*Error]. Meta is never nil.
func (c *Client) Call(ctx context.Context, call Call, out any) (*Meta, error) {
	state := &callState{Call: call, tries: c.o.MaxTries}
	state.Header = call.Header.Clone()
	if state.Header == nil {
		state.Header = http.Header{}
	}
	for _, option := range call.Options {
		option(state)
	}
	meta, err := c.perform(ctx, state, out)
	if state.meta != nil {
		*state.meta = *meta
	}
	return meta, err
}

func (c *Client) perform(ctx context.Context, s *callState, out any) (*Meta, error) {
	req, err := c.request(ctx, s)
	if err != nil {
		return &Meta{}, &Error{Operation: s.Operation, Err: err}
	}
	resp, meta, failed := c.send(req, s.tries, true)
	if failed != nil {
		failed.Operation = s.Operation
		return meta, failed
	}
	body, err := io.ReadAll(resp.Body) // from memory
	if closing := resp.Body.Close(); err != nil || closing != nil {
		return meta, &Error{Operation: s.Operation, Key: meta.Key, Tries: meta.Tries, Unknown: true, Err: errors.Join(err, closing)}
	}
	if !s.succeeded(resp.StatusCode) || c.o.Profile.inFlight(resp) {
		return meta, c.problemOf(s.Operation, resp, body, meta)
	}
	if s.Returns && isNothing(body) {
		return meta, &Error{Operation: s.Operation, Key: meta.Key, Tries: meta.Tries, Unknown: true,
			Err: fmt.Errorf("client: the answer (status %d) has no body: it is none of the operation's", resp.StatusCode)}
	}
	if out == nil || len(body) == 0 {
		return meta, nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return meta, &Error{Operation: s.Operation, Key: meta.Key, Tries: meta.Tries, Unknown: true,
			Err: fmt.Errorf("client: the answer (status %d) can't be read: %w", resp.StatusCode, err)}
	}
	return meta, nil
}

// succeeded reports whether a status is a success of the operation.
func (s *callState) succeeded(status int) bool {
	return status >= 200 && status < 300 || s.Redirects && status >= 300 && status < 400
}

func isNothing(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) == 0 || string(body) == "null"
}

func (c *Client) request(ctx context.Context, s *callState) (*http.Request, error) {
	var body io.Reader
	if s.Body != nil {
		text, err := encode(s.Body)
		if err != nil {
			return nil, fmt.Errorf("client: the request can't be written: %w", err)
		}
		body = bytes.NewReader(text)
	}
	target := c.base + s.Path
	if len(s.Query) > 0 {
		target += "?" + s.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, target, body)
	if err != nil {
		return nil, err
	}
	req.Header = s.Header
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json, application/problem+json")
	}
	if s.Keyed {
		if s.Key == "" {
			s.Key = NewKey()
		}
		if !validKey(s.Key) {
			return nil, errors.New("client: a key has 1 to 255 characters from ! to ~")
		}
		c.o.Profile.setKey(req.Header, s.Key)
	}
	return req, nil
}

// encode is JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// Path fills the parameters of a path pattern, "/v1/payments/{id}" for one, in the
// order of their appearance, and escapes them. A "." or ".." would name another
// resource, so its dots are escaped as well.
func Path(pattern string, values ...string) string {
	var out strings.Builder
	for _, value := range values {
		before, rest, found := strings.Cut(pattern, "{")
		if !found {
			break
		}
		_, after, _ := strings.Cut(rest, "}")
		out.WriteString(before)
		if value == "." || value == ".." {
			out.WriteString(strings.ReplaceAll(value, ".", "%2E"))
		} else {
			out.WriteString(url.PathEscape(value))
		}
		pattern = after
	}
	return out.String() + pattern
}

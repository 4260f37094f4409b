package idemtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
)

// newKey is a key that nobody has used.
func newKey() string { return "idemtest-" + rand.Text() }

// subject is a request that can be sent again and again.
type subject struct {
	op     *Operation
	by     *protocol
	as     func(*http.Request)
	path   map[string]string
	query  url.Values
	header http.Header
	body   any // decoded, numbers as they were written; nil for none
	spell  func(any) []byte
}

func newSubject(op *Operation, by *protocol, as func(*http.Request)) (*subject, error) {
	s := &subject{op: op, by: by, as: as, path: map[string]string{}, query: url.Values{}, header: http.Header{}, spell: marshal}
	if op.Body != "" {
		body, err := decode(op.Body)
		if err != nil {
			return nil, fmt.Errorf("operation %s: Body: %w", op.Name, err)
		}
		s.body = body
	}
	for _, in := range op.Inputs {
		if in.Value == "" || in.Name == "body" || strings.HasPrefix(in.Name, "body.") {
			continue
		}
		if err := s.set(in.Name, in.Value); err != nil {
			return nil, fmt.Errorf("operation %s: %w", op.Name, err)
		}
	}
	return s, nil
}

// clone is the same request, to be changed.
func (s *subject) clone() *subject {
	c := *s
	c.path, c.query, c.header = maps.Clone(s.path), maps.Clone(s.query), s.header.Clone()
	if s.body != nil {
		c.body, _ = decode(string(marshal(s.body))) // what was encoded can be decoded
	}
	return &c
}

// set gives an input another value.
func (s *subject) set(input string, value any) error {
	from, name, _ := strings.Cut(input, ".")
	switch from {
	case "path":
		s.path[name] = fmt.Sprint(value)
	case "query":
		s.query.Set(name, fmt.Sprint(value))
	case "header":
		s.header.Set(name, fmt.Sprint(value))
	case "body":
		encoded, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("input %s: %w", input, err)
		}
		return s.setBody(name, encoded)
	default:
		return fmt.Errorf("input %q: it must begin with path., query., header. or body", input)
	}
	return nil
}

// other changes an input to its other value.
func (s *subject) other(in Input) error {
	if in.Name == "body" {
		return s.setBody("", []byte(in.Other))
	}
	if name, ok := strings.CutPrefix(in.Name, "body."); ok {
		return s.setBody(name, []byte(in.Other))
	}
	return s.set(in.Name, in.Other)
}

func (s *subject) setBody(name string, encoded []byte) error {
	value, err := decode(string(encoded))
	if err != nil {
		return fmt.Errorf("input body.%s: %w", name, err)
	}
	if name == "" {
		s.body = value
		return nil
	}
	if s.body == nil {
		s.body = map[string]any{}
	}
	at, ok := s.body.(map[string]any)
	parts := strings.Split(name, ".")
	for _, part := range parts[:len(parts)-1] {
		if ok && at[part] == nil {
			at[part] = map[string]any{}
		}
		at, ok = at[part].(map[string]any)
	}
	if !ok {
		return fmt.Errorf("input body.%s: the body has something else than an object there", name)
	}
	at[parts[len(parts)-1]] = value
	return nil
}

// get is an input's value as text, "" if it is not sent.
func (s *subject) get(input string) string {
	from, name, _ := strings.Cut(input, ".")
	switch from {
	case "path":
		return s.path[name]
	case "query":
		return s.query.Get(name)
	case "header":
		return s.header.Get(name)
	}
	at := s.body
	for part := range strings.SplitSeq(name, ".") {
		object, _ := at.(map[string]any)
		at = object[part]
	}
	if at == nil {
		return ""
	}
	return fmt.Sprint(at)
}

// send sends the request under a key, "" for none.
func (s *subject) send(h http.Handler, key string) answer {
	return s.sendWith(context.Background(), h, key)
}

// sendWith is send with a context that may end.
func (s *subject) sendWith(ctx context.Context, h http.Handler, key string) answer {
	return s.by.serve(h, s.request(ctx, key))
}

func (s *subject) request(ctx context.Context, key string) *http.Request {
	var body []byte
	if s.body != nil {
		body = s.spell(s.body)
	}
	r := newRequest(ctx, s.op.Method, s.target(), body)
	maps.Copy(r.Header, s.header)
	if s.op.Key != KeyDerived && key != "" {
		r.Header.Set(s.by.keyHeader, key)
	}
	s.as(r)
	return r
}

// target is the pattern with its parameters filled in, and the query.
func (s *subject) target() string {
	var target strings.Builder
	rest := s.op.Path
	for {
		before, after, found := strings.Cut(rest, "{")
		target.WriteString(before)
		if !found {
			break
		}
		name, tail := cutParameter(after)
		target.WriteString(url.PathEscape(s.path[name]))
		rest = tail
	}
	if len(s.query) > 0 {
		target.WriteString("?" + s.query.Encode())
	}
	return target.String()
}

// cutParameter ends a parameter at its brace; those of a regular expression
// are in pairs.
func cutParameter(text string) (name, rest string) {
	depth := 1
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			name, _, _ = strings.Cut(text[:i], ":")
			return strings.TrimSuffix(name, "..."), text[i+1:]
		}
	}
	return text, ""
}

func newRequest(ctx context.Context, method, target string, body []byte) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func decode(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("there is more than one JSON value")
	}
	return value, nil
}

func marshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return text
}

// respell writes the same value with members in falling order and white space.
func respell(value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		slices.Reverse(names)
		parts := make([][]byte, len(names))
		for i, name := range names {
			parts[i] = slices.Concat(marshal(name), []byte(" : "), respell(v[name]))
		}
		return slices.Concat([]byte("{\n\t"), bytes.Join(parts, []byte(" ,\n\t")), []byte(" }\n"))
	case []any:
		parts := make([][]byte, len(v))
		for i := range v {
			parts[i] = respell(v[i])
		}
		return slices.Concat([]byte("[ "), bytes.Join(parts, []byte(" , ")), []byte(" ]"))
	}
	return marshal(value)
}

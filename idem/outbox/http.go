package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

// HTTP is a Sink that sends an event as a POST: the payload as the body, the key
// as `Idempotency-Key`, a structured-field string (RFC 9651,
// draft-ietf-httpapi-idempotency-key-header-07), and the trace context that was
// stored with the event. 2xx is success. It does not follow redirects.
type HTTP struct {
	URL string
	// Client is one with a timeout of 30 seconds if nil. It is copied; its
	// CheckRedirect is not asked.
	Client *http.Client
	// Header is sent with every event: Authorization, for one.
	Header http.Header
	// Prepare may change a request before it is sent: sign it, choose another URL.
	// Its error counts like one of the sink. It is called at every try.
	Prepare func(r *http.Request, e Event) error
}

// traceHeaders are those of a stored event that are sent on (W3C Trace Context).
var traceHeaders = []string{"traceparent", "tracestate"}

// Deliver sends an event.
func (h *HTTP) Deliver(ctx context.Context, e Event) (Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(e.Payload))
	if err != nil {
		return Answer{}, errors.New("the sink's URL can't be used") // the error would show it
	}
	for name, values := range h.Header {
		r.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values) // Prepare may change them
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", quoteKey(e.Key))
	for _, name := range traceHeaders {
		if value := e.Headers[name]; value != "" {
			r.Header.Set(name, value)
		}
	}
	if h.Prepare != nil {
		if err := h.Prepare(r, e); err != nil {
			return Answer{}, err
		}
	}
	response, err := h.client().Do(r)
	if err != nil {
		return Answer{}, fmt.Errorf("no answer: %w", unquoted{withoutURL(err)})
	}
	defer func() { _ = response.Body.Close() }()
	var content []byte
	if response.StatusCode >= 200 { // what follows a 101 is no body, and may never end
		if content, err = io.ReadAll(io.LimitReader(response.Body, maxContent+1)); err != nil {
			return Answer{}, fmt.Errorf("the answer broke off: %w", unquoted{err})
		}
	}
	answer := Answer{Status: response.StatusCode, Header: keptHeader(response.Header), Content: string(content)}
	return answer, judge(response, content, time.Now())
}

// client never follows a redirect: the event would go to a receiver that nobody
// chose, and as a GET at that.
func (h *HTTP) client() *http.Client {
	client := http.Client{Timeout: defaultTimeout}
	if h.Client != nil {
		client = *h.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Transport = unled{client.Transport}
	return &client
}

// unled takes away a Location that can't be read: net/http would make an error of the
// answer, with the Location in it, before it asks whether to follow.
type unled struct{ http.RoundTripper }

func (u unled) RoundTrip(r *http.Request) (*http.Response, error) {
	transport := u.RoundTripper
	if transport == nil {
		transport = http.DefaultTransport
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if _, err := r.URL.Parse(response.Header.Get("Location")); err != nil {
		response.Header.Del("Location")
	}
	return response, nil
}

// defaultTimeout is that of a sink without a client of its own.
const defaultTimeout = 30 * time.Second

// withoutURL is an error without the URL, in which there may be a secret.
func withoutURL(err error) error {
	type unwrapper interface{ Unwrap() error }
	if wrapped, ok := err.(unwrapper); ok && strings.Contains(err.Error(), "://") && wrapped.Unwrap() != nil {
		return wrapped.Unwrap()
	}
	return err
}

// unquoted is an error of net/http without what it quotes, which is what was received:
// where that is no HTTP it may be anything.
type unquoted struct{ error }

func (u unquoted) Error() string {
	var protocol textproto.ProtocolError
	if errors.As(u.error, &protocol) {
		return "the answer is no HTTP"
	}
	text, _, cut := strings.Cut(u.error.Error(), `"`)
	if cut {
		text += "…"
	}
	return text
}

func (u unquoted) Unwrap() error { return u.error }

// keptHeader are the headers of an answer that are kept with the event.
func keptHeader(header http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range []string{"Content-Type", "Location", "Retry-After"} {
		if value := header.Get(name); value != "" {
			kept[name] = value
		}
	}
	return kept
}

var keyEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoteKey is a key as a serialised structured-field string.
func quoteKey(key string) string { return `"` + keyEscapes.Replace(key) + `"` }

package client

import "net/http"

// Transport is an http.RoundTripper that repeats what may have failed: requests with
// an idempotency key, and those whose method allows it (GET, HEAD, OPTIONS, TRACE,
// PUT, DELETE). Others are sent once. It repeats after connection errors and after
// 408, 409, 425, 429, 500, 502, 503, 504 and 529, unless the answer says otherwise
// (x-should-retry, a spend limit), waits at least as long as Retry-After says, and
// gives the last answer back when Options allow no more. Once it has given an answer
// back, nothing is repeated, however the body ends.
//
// On a kept connection that the server has closed, net/http repeats such requests by
// itself, once more per connection; these are not counted.
//
// Every try has the key of the request. A Transport makes none: set one per intent
// ([NewKey], [DeriveKey]). It is safe for concurrent use.
type Transport struct{ o Options }

// NewTransport makes a Transport. An unknown Options.Profile is taken for IETF.
func NewTransport(o Options) *Transport { return &Transport{o.withDefaults()} }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	call, err := newTries(&t.o, withHeader(r, t.o.Header), t.o.MaxTries, false)
	if err != nil {
		return nil, err
	}
	return call.run()
}

// CloseIdleConnections closes those of Options.Transport.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.o.Transport.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// withHeader is r with the fields of h that it lacks. r itself stays as it is.
func withHeader(r *http.Request, h http.Header) *http.Request {
	if len(h) == 0 {
		return r
	}
	body, getBody := r.Body, r.GetBody
	r = r.Clone(r.Context())
	r.Body, r.GetBody = body, getBody
	if r.Header == nil {
		r.Header = http.Header{}
	}
	for name, values := range h {
		if _, own := r.Header[http.CanonicalHeaderKey(name)]; !own {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return r
}

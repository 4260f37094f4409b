package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Client sends the requests of one service. It is safe for concurrent use.
type Client struct {
	base string
	o    Options
}

// New makes a client of the service at base, "https://api.example.com/prefix" for
// one. It fails where base is no absolute http or https URL without query, or the
// profile is none of idemgen's.
func New(base string, o Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("client: base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("client: base URL %q: give an absolute URL like https://api.example.com", u.Redacted())
	}
	o = o.withDefaults()
	if !o.Profile.known() {
		return nil, fmt.Errorf("client: unknown profile %q; there are %s, %s and %s", o.Profile, IETF, Stripe, Gateway)
	}
	return &Client{base: strings.TrimRight(base, "/"), o: o}, nil
}

// Meta is what is known about a call besides its value.
type Meta struct {
	Status   int // of the last answer; 0: none came
	Replayed bool
	Tries    int
	Header   http.Header // of the last answer
	Key      string      // that was sent, unquoted; "" if none
}

// Do sends a request of your own, whatever its host, and repeats it as [Transport]
// does. The answer is the last one that came, also if it is a refusal; its body is
// to be closed. Redirects are answers, not followed.
//
// Where the last try had no answer, the error is an [*Error]. Meta is never nil.
func (c *Client) Do(ctx context.Context, req *http.Request) (*http.Response, *Meta, error) {
	resp, meta, failed := c.send(req.WithContext(ctx), c.o.MaxTries, false)
	if failed != nil {
		return nil, meta, failed
	}
	return resp, meta, nil
}

// send is all tries of one request.
func (c *Client) send(req *http.Request, limit int, whole bool) (*http.Response, *Meta, *Error) {
	req = withHeader(req, c.o.Header)
	meta := &Meta{Key: keyOf(req.Header)}
	call, err := newTries(&c.o, req, limit, whole)
	if err != nil {
		return nil, meta, &Error{Key: meta.Key, Err: err}
	}
	resp, err := call.run()
	meta.Tries = call.number
	if err != nil {
		return nil, meta, &Error{Key: meta.Key, Tries: call.number, Unknown: call.unsure, Err: err}
	}
	meta.Status, meta.Header, meta.Replayed = resp.StatusCode, resp.Header, replayed(resp.Header)
	return resp, meta, nil
}

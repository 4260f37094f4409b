package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/client"
)

// jumpClock is a clock on which every wait is over at once, and has taken its time.
// Bounds are waits as well, so clients that use it have none.
type jumpClock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.IsZero() {
		c.now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	return c.now
}

func (c *jumpClock) AfterFunc(d time.Duration, f func()) func() bool {
	now := c.Now()
	c.mu.Lock()
	c.now = now.Add(d)
	c.waits = append(c.waits, d)
	c.mu.Unlock()
	go f()
	return func() bool { return false }
}

func (c *jumpClock) took() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits
}

// script answers the first request with the first handler, and so on; the last one
// answers all that follow. It keeps what it was sent.
type script struct {
	*httptest.Server
	mu     sync.Mutex
	steps  []http.HandlerFunc
	keys   []string
	bodies []string
}

func serve(t *testing.T, steps ...http.HandlerFunc) *script {
	t.Helper()
	s := &script{steps: steps}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	n := len(s.keys)
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key")+r.Header.Get("X-Idempotency-Key"))
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.steps[min(n, len(s.steps)-1)](w, r)
}

// tries is how many requests came.
func (s *script) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

// answer is a handler that says the same to everybody; headers are name, value, ….
func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// lost ends the connection without an answer.
func lost(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// cut promises a longer body than it sends.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"id":`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func newClient(t *testing.T, s *script, o client.Options) (*client.Client, *jumpClock) {
	t.Helper()
	clock := &jumpClock{}
	o.Clock, o.MaxElapsed = clock, -1
	if o.Transport == nil {
		// Of its own: on a connection that was used before, net/http repeats by itself.
		transport := &http.Transport{DisableKeepAlives: true}
		t.Cleanup(transport.CloseIdleConnections)
		o.Transport = transport
	}
	c, err := client.New(s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, clock
}

func post(t *testing.T, s *script, key, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return req
}

// doing sends req, and reads the answer.
func doing(t *testing.T, c *client.Client, req *http.Request) (status int, body string, meta *client.Meta, err error) {
	t.Helper()
	resp, meta, err := c.Do(t.Context(), req)
	if err != nil {
		return 0, "", meta, err
	}
	data, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(data), meta, err
}

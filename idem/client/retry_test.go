package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/client"
)

func TestEveryTryHasTheSameKeyAndBody(t *testing.T) {
	s := serve(t, lost, answer(503, ""), answer(409, ""), lost, answer(201, "done", "Idempotent-Replayed", "true"))
	c, _ := newClient(t, s, client.Options{})
	status, body, meta, err := doing(t, c, post(t, s, `"order-17"`, "payload"))
	if err != nil || status != 201 || body != "done" {
		t.Fatal(status, body, err)
	}
	if want := slices.Repeat([]string{`"order-17"`}, 5); !slices.Equal(s.keys, want) {
		t.Errorf("keys %q", s.keys)
	}
	if want := slices.Repeat([]string{"payload"}, 5); !slices.Equal(s.bodies, want) {
		t.Errorf("bodies %q", s.bodies)
	}
	if meta.Tries != 5 || meta.Key != "order-17" || !meta.Replayed || meta.Status != 201 {
		t.Errorf("meta %+v", meta)
	}
}

func TestStatusesAreTransientOrPermanent(t *testing.T) {
	for _, status := range []int{408, 409, 425, 429, 500, 502, 503, 504, 529} {
		if n := triesOf(t, answer(status, "{}")); n != 6 {
			t.Errorf("%d: %d tries, want 6", status, n)
		}
	}
	for _, status := range []int{200, 201, 204, 303, 304, 400, 401, 402, 403, 404, 405, 410, 413, 418, 422, 501, 505} {
		if n := triesOf(t, answer(status, "")); n != 1 {
			t.Errorf("%d: %d tries, want 1", status, n)
		}
	}
}

func TestTheServerHasTheLastWordAboutRetries(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   int
	}{
		"not a conflict that stays": {answer(409, "", "X-Should-Retry", "false"), 1},
		"not a 503 that stays":      {answer(503, "", "X-Should-Retry", "False"), 1},
		"a 422 that may pass":       {answer(422, "", "X-Should-Retry", "true"), 6},
		"neither":                   {answer(503, "", "X-Should-Retry", "maybe"), 6},
		"no success":                {answer(200, "", "X-Should-Retry", "true"), 1},
		"spend limit":               {answer(429, `{"error":{"code":"enforced_spend_limit_reached"}}`), 1},
		"spend limit, gainsaid":     {answer(429, `enforced_spend_limit_reached`, "X-Should-Retry", "true"), 1},
		"another limit":             {answer(429, `{"code":"rate_limit"}`), 6},
		"a 503 that names it":       {answer(503, `enforced_spend_limit_reached`), 6},
	} {
		if n := triesOf(t, c.answer); n != c.want {
			t.Errorf("%s: %d tries, want %d", name, n, c.want)
		}
	}
}

// triesOf is how often a server is asked that always answers the same; the answer,
// read wholly, reaches the caller in either case.
func triesOf(t *testing.T, h http.HandlerFunc) int {
	t.Helper()
	s := serve(t, h)
	c, _ := newClient(t, s, client.Options{})
	if _, _, _, err := doing(t, c, post(t, s, "k", "x")); err != nil {
		t.Fatal(err)
	}
	return s.tries()
}

func TestTheLastAnswerIsGivenBackWhole(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	s := serve(t, answer(429, long))
	c, _ := newClient(t, s, client.Options{MaxTries: 2})
	status, body, meta, err := doing(t, c, post(t, s, "k", "x"))
	if err != nil || status != 429 || body != long || meta.Tries != 2 {
		t.Fatal(status, len(body), meta, err)
	}
}

func TestWhatIsNotSafeToRepeatIsSentOnce(t *testing.T) {
	for method, want := range map[string]int{
		http.MethodPost: 1, http.MethodPatch: 1, http.MethodConnect: 1, "LOCK": 1,
		http.MethodGet: 6, http.MethodHead: 6, http.MethodPut: 6, http.MethodDelete: 6, http.MethodOptions: 6,
	} {
		n := 0
		c := overFunc(t, client.Options{}, func(*http.Request) (*http.Response, error) {
			n++
			return nil, errors.New("lost")
		})
		req, err := http.NewRequest(method, "http://example.com", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = c.Do(t.Context(), req) //nolint:bodyclose // there is no response
		var failed *client.Error
		if !errors.As(err, &failed) || !failed.Unknown || failed.Tries != want || n != want {
			t.Errorf("%s: %d tries, %+v; want %d", method, n, failed, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	return f(r)
}

// overFunc is a client whose requests go to f; waits are over at once.
func overFunc(t *testing.T, o client.Options, f roundTrip) *client.Client {
	t.Helper()
	o.Transport, o.Clock, o.MaxElapsed = f, &jumpClock{}, -1
	c, err := client.New("http://example.com", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWaitsDoubleFromHalfASecondToEight(t *testing.T) {
	s := serve(t, answer(503, ""))
	c, clock := newClient(t, s, client.Options{MaxTries: 8})
	if _, _, _, err := doing(t, c, post(t, s, "k", "x")); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{500, 1000, 2000, 4000, 8000, 8000, 8000}
	waits := clock.took()
	if len(waits) != len(want) {
		t.Fatalf("waits %v", waits)
	}
	for i, wait := range waits {
		if longest := want[i] * time.Millisecond; wait > longest || wait < longest*3/4 {
			t.Errorf("wait %d is %v, want %v to %v", i, wait, longest*3/4, longest)
		}
	}
	if slices.Equal(waits[4:5], waits[5:6]) && slices.Equal(waits[5:6], waits[6:7]) {
		t.Errorf("no jitter: %v", waits)
	}
}

func TestRetryAfterIsAMinimum(t *testing.T) {
	const date = "Fri, 02 Jan 2026 10:00:00 GMT" // seven hours off the client's clock
	for name, c := range map[string]struct {
		headers []string
		min     time.Duration
	}{
		"seconds":             {[]string{"Retry-After", "7"}, 7 * time.Second},
		"a date":              {[]string{"Date", date, "Retry-After", "Fri, 02 Jan 2026 10:00:30 GMT"}, 30 * time.Second},
		"a date of 1994":      {[]string{"Date", date, "Retry-After", "Friday, 02-Jan-26 10:00:30 GMT"}, 30 * time.Second},
		"less than the own":   {[]string{"Retry-After", "0"}, 375 * time.Millisecond},
		"a date in the past":  {[]string{"Date", date, "Retry-After", "Fri, 02 Jan 2026 09:00:00 GMT"}, 375 * time.Millisecond},
		"nothing to be read":  {[]string{"Retry-After", "soon"}, 375 * time.Millisecond},
		"a negative one":      {[]string{"Retry-After", "-7"}, 375 * time.Millisecond},
		"with a fraction":     {[]string{"Retry-After", "7.5"}, 375 * time.Millisecond},
		"white space":         {[]string{"Retry-After", " 7 "}, 7 * time.Second},
		"longer than a lives": {[]string{"Retry-After", "99999999999999999999999"}, 100 * 365 * 24 * time.Hour},
	} {
		s := serve(t, answer(429, "", c.headers...), answer(200, ""))
		cl, clock := newClient(t, s, client.Options{})
		if status, _, _, err := doing(t, cl, post(t, s, "k", "x")); err != nil || status != 200 {
			t.Fatal(name, status, err)
		}
		waits := clock.took()
		if len(waits) != 1 || waits[0] < c.min || waits[0] > c.min+125*time.Millisecond {
			t.Errorf("%s: waits %v, want %v", name, waits, c.min)
		}
	}
}

func TestABodyThatCantBeReadTwiceIsBufferedOrSentOnce(t *testing.T) {
	for name, c := range map[string]struct {
		size, tries int
		buffer      int64
	}{
		"fits exactly": {1000, 3, 1000},
		"too large":    {1001, 1, 1000},
		"not at all":   {1, 1, -1},
		"by default":   {1 << 20, 3, 0},
		"just above":   {1<<20 + 1, 1, 0},
	} {
		s := serve(t, answer(503, ""), answer(503, ""), answer(200, ""))
		cl, _ := newClient(t, s, client.Options{MaxBuffer: c.buffer})
		want := strings.Repeat("a", c.size)
		req := post(t, s, "k", "")
		closed := &closing{Reader: strings.NewReader(want)}
		req.Body, req.GetBody, req.ContentLength = closed, nil, -1
		if _, _, meta, err := doing(t, cl, req); err != nil || meta.Tries != c.tries {
			t.Fatal(name, meta, err)
		}
		if !slices.Equal(s.bodies, slices.Repeat([]string{want}, c.tries)) {
			t.Errorf("%s: bodies differ", name)
		}
		if !closed.done() {
			t.Errorf("%s: the request's body is not closed", name)
		}
	}
}

type closing struct {
	io.Reader
	mu     sync.Mutex
	closed bool
}

func (c *closing) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func (c *closing) done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func TestAStreamThatWasHandedOutIsNeverRepeated(t *testing.T) {
	s := serve(t, cut)
	c, _ := newClient(t, s, client.Options{})
	status, body, meta, err := doing(t, c, post(t, s, "k", "x"))
	if !errors.Is(err, io.ErrUnexpectedEOF) || status != 201 || body != `{"id":` {
		t.Fatal(status, body, err)
	}
	if meta.Tries != 1 || s.tries() != 1 {
		t.Errorf("%d tries, %d requests", meta.Tries, s.tries())
	}
}

func TestAFaultOfTheRequestItselfIsNotRepeated(t *testing.T) {
	broken := errors.New("disk is gone")
	n := 0
	c := overFunc(t, client.Options{}, func(r *http.Request) (*http.Response, error) {
		n++
		_, err := io.ReadAll(r.Body)
		return nil, err
	})
	reading := func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("half"), failing{broken})), nil
	}
	req, err := http.NewRequest(http.MethodPut, "http://example.com", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Body, _ = reading()
	req.GetBody = reading
	if _, meta, err := c.Do(t.Context(), req); !errors.Is(err, broken) || n != 1 || meta.Tries != 1 { //nolint:bodyclose // there is no response
		t.Errorf("%v after %d tries", err, n)
	}
	req.Body, req.GetBody = io.NopCloser(failing{broken}), nil
	if _, _, err := c.Do(t.Context(), req); !errors.Is(err, broken) || n != 1 { //nolint:bodyclose // there is no response
		t.Errorf("%v after %d tries; want none", err, n)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestPrepareSeesEveryTryAndMayEndTheCall(t *testing.T) {
	s := serve(t, answer(503, ""))
	var tokens int
	refused := errors.New("no token left")
	c, _ := newClient(t, s, client.Options{Prepare: func(r *http.Request) error {
		if tokens++; tokens == 3 {
			return refused
		}
		r.Header.Set("Authorization", "Bearer fresh")
		return nil
	}})
	req := post(t, s, "k", "x")
	if _, meta, err := c.Do(t.Context(), req); !errors.Is(err, refused) || meta.Tries != 3 || s.tries() != 2 { //nolint:bodyclose // there is no response
		t.Errorf("%v, %+v, %d requests", err, meta, s.tries())
	}
	if req.Header.Get("Authorization") != "" {
		t.Error("the caller's request was changed")
	}
}

func TestEveryTryIsReported(t *testing.T) {
	s := serve(t, lost, answer(503, "", "Retry-After", "2"), answer(200, ""))
	var seen []client.Attempt
	c, clock := newClient(t, s, client.Options{Observe: func(a client.Attempt) { seen = append(seen, a) }})
	if _, _, _, err := doing(t, c, post(t, s, "k", "x")); err != nil {
		t.Fatal(err)
	}
	waits := clock.took()
	if len(seen) != 3 || len(waits) != 2 {
		t.Fatalf("%+v, waits %v", seen, waits)
	}
	for i, a := range seen {
		if a.Number != i+1 || a.Retry != (i < 2) || (a.Err != nil) != (i == 0) || a.Status != []int{0, 503, 200}[i] {
			t.Errorf("%d: %+v", i, a)
		}
		if i < 2 && a.Wait != waits[i] {
			t.Errorf("%d: said %v, waited %v", i, a.Wait, waits[i])
		}
	}
}

func TestTransportRepeatsUnderAnHTTPClient(t *testing.T) {
	s := serve(t, answer(503, ""), lost, answer(200, "done"))
	c := &http.Client{Transport: client.NewTransport(client.Options{
		Clock: &jumpClock{}, MaxElapsed: -1, Header: http.Header{"x-team": {"payments"}},
	})}
	defer c.CloseIdleConnections()
	resp, err := c.Do(post(t, s, "k", "x"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "done" || resp.Body.Close() != nil || s.tries() != 3 {
		t.Error(string(body), err, s.tries())
	}
}

func TestOneClientServesManyGoroutines(t *testing.T) {
	var n int
	var mu sync.Mutex
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		bad := n%2 == 0
		mu.Unlock()
		if bad {
			w.WriteHeader(503)
			return
		}
		_, _ = io.WriteString(w, r.Header.Get("Idempotency-Key"))
	})
	c, _ := newClient(t, s, client.Options{MaxTries: 50, Header: http.Header{"X-Team": {"payments"}}})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			key := client.NewKey()
			if status, body, _, err := doing(t, c, post(t, s, key, "x")); err != nil || status != 200 || body != key {
				t.Error(status, body, err)
			}
		})
	}
	group.Wait()
}

func TestAnswersThatAreRepeatedFreeTheirConnection(t *testing.T) {
	s := serve(t, answer(503, strings.Repeat("x", 1000)))
	remotes := map[string]bool{}
	s.steps = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		remotes[r.RemoteAddr] = true
		answer(503, strings.Repeat("x", 1000))(w, r)
	}}
	c, _ := newClient(t, s, client.Options{Transport: http.DefaultTransport})
	if _, _, _, err := doing(t, c, post(t, s, "k", "x")); err != nil || len(remotes) != 1 {
		t.Errorf("%v; %d connections, want 1", err, len(remotes))
	}
}

func TestABodyOfADiscardedAnswerIsClosed(t *testing.T) {
	var bodies []*closing
	c := overFunc(t, client.Options{MaxTries: 3}, func(r *http.Request) (*http.Response, error) {
		b := &closing{Reader: bytes.NewReader(make([]byte, 1<<20))}
		bodies = append(bodies, b)
		return &http.Response{StatusCode: 503, Header: http.Header{}, Body: b}, nil
	})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, _, err := c.Do(t.Context(), req)
	if err != nil || len(bodies) != 3 {
		t.Fatal(err, len(bodies))
	}
	if !bodies[0].done() || !bodies[1].done() || bodies[2].done() {
		t.Error("the first two bodies must be closed, the last one is the caller's")
	}
	if err := resp.Body.Close(); err != nil || !bodies[2].done() {
		t.Error(err)
	}
}

package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/idem/client"
)

// over is a client on the bubble's clock, whose requests go to f.
func over(t *testing.T, o client.Options, f roundTrip) *client.Client {
	t.Helper()
	o.Transport = f
	c, err := client.New("http://example.com", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// withoutAnswer is what Do gives where no answer came.
func withoutAnswer(resp *http.Response, meta *client.Meta, err error) (*client.Meta, error) {
	if resp != nil {
		_ = resp.Body.Close()
	}
	return meta, err
}

// hang answers when the request's context ends.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func unavailable(headers ...string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: 503, Header: h, Body: io.NopCloser(strings.NewReader("busy"))}, nil
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the caller has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(gone) })
		began := time.Now()
		meta, err := withoutAnswer(over(t, client.Options{}, unavailable()).Do(ctx, get(t)))
		if !errors.Is(err, gone) || meta.Tries != 1 || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%v after %v, %+v", err, time.Since(began), meta)
		}
	})
}

func TestATryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		meta, err := withoutAnswer(over(t, client.Options{}, hang).Do(ctx, get(t)))
		if !errors.Is(err, context.DeadlineExceeded) || meta.Tries != 1 {
			t.Errorf("%v, %+v", err, meta)
		}
	})
}

func TestNoWaitThatGoesPastTheDeadlineIsBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		resp, meta, err := over(t, client.Options{}, unavailable("Retry-After", "11")).Do(ctx, get(t))
		if err != nil || resp.StatusCode != 503 || meta.Tries != 1 || time.Since(began) != 0 {
			t.Fatalf("%v after %v, %+v", err, time.Since(began), meta)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "busy" || err != nil || resp.Body.Close() != nil {
			t.Error(string(body), err)
		}
	})
}

func TestTheTotalTimeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		resp, meta, err := over(t, client.Options{MaxTries: 1000, MaxElapsed: 20 * time.Second}, unavailable()).Do(t.Context(), get(t))
		took := time.Since(began)
		if err == nil {
			defer func() { _ = resp.Body.Close() }()
		}
		// Five waits of 15.5 s at most; a sixth of at least 6 s does not fit.
		if err != nil || resp.StatusCode != 503 || took > 20*time.Second || meta.Tries < 5 || meta.Tries > 7 {
			t.Errorf("%v after %v, %+v", err, took, meta)
		}
		began = time.Now()
		meta, err = withoutAnswer(over(t, client.Options{MaxElapsed: 7 * time.Second}, hang).Do(t.Context(), get(t)))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 7*time.Second || meta.Tries != 1 {
			t.Errorf("%v after %v, %+v", err, time.Since(began), meta)
		}
	})
}

func TestATryThatTakesTooLongIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := over(t, client.Options{TryTimeout: 2 * time.Second}, func(r *http.Request) (*http.Response, error) {
			if n++; n == 1 {
				return hang(r)
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
		})
		began := time.Now()
		resp, meta, err := c.Do(t.Context(), get(t))
		if err == nil {
			defer func() { _ = resp.Body.Close() }()
		}
		if err != nil || resp.StatusCode != 200 || meta.Tries != 2 || time.Since(began) > 2500*time.Millisecond {
			t.Errorf("%v after %v, %+v", err, time.Since(began), meta)
		}
	})
}

// slowBody gives its text after a while, unless the try is over.
type slowBody struct {
	ctx  context.Context
	wait time.Duration
	io.Reader
}

func (b slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(b.wait):
		return b.Reader.Read(p)
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

func (slowBody) Close() error { return nil }

func TestTheBoundsEndWhenAStreamBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := over(t, client.Options{TryTimeout: time.Second, MaxElapsed: time.Second}, func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: slowBody{r.Context(), time.Hour, strings.NewReader("late")}}, nil
		})
		resp, _, err := c.Do(t.Context(), get(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "late" {
			t.Error(string(body), err)
		}
	})
}

func TestABodyThatTakesTooLongIsAFailedTryOfCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := time.Hour
		c := over(t, client.Options{TryTimeout: time.Second}, func(r *http.Request) (*http.Response, error) {
			body := slowBody{r.Context(), wait, strings.NewReader(`"late"`)}
			wait = 0
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
		})
		var out string
		meta, err := c.Call(t.Context(), client.Call{Method: http.MethodGet, Path: "/"}, &out)
		if err != nil || out != "late" || meta.Tries != 2 {
			t.Error(out, err, meta)
		}
	})
}

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// errTryTimeout is why a try was given up that took too long.
var errTryTimeout = fmt.Errorf("client: no answer in time: %w", context.DeadlineExceeded)

// tries is one call: a request, and all that is done to have it answered.
type tries struct {
	o      *Options
	req    *http.Request // as the caller gave it; never changed
	body   source
	max    int
	whole  bool // the answer is read inside the try, so that one cut short is repeated
	began  time.Time
	number int    // of the current try
	unsure bool   // a try may have been carried out without an answer
	cut    func() // ends what is left of the current try
}

// newTries prepares a call. It closes the request's body where it fails.
func newTries(o *Options, req *http.Request, limit int, whole bool) (*tries, error) {
	t := &tries{o: o, req: req, max: limit, whole: whole, began: o.Clock.Now()}
	buffer := o.MaxBuffer
	if !repeatable(req) {
		t.max, buffer = 1, -1
	}
	if t.max <= 1 {
		buffer = -1
	}
	var err error
	if t.body, err = sourceOf(req, buffer); err != nil {
		return nil, err
	}
	if t.body.again == nil {
		t.max = 1
	}
	return t, nil
}

// repeatable reports whether a second copy of the request does no harm: its method
// says so (RFC 9110 section 9.2.2), or it has a key.
func repeatable(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return slices.ContainsFunc(keyHeaders, func(name string) bool { return r.Header.Get(name) != "" })
}

// run tries until there is an answer to give back, or no further try is allowed.
// The answer may be a refusal; where the last try had none, it is an error.
func (t *tries) run() (*http.Response, error) {
	for {
		t.number++
		started := t.o.Clock.Now()
		sent, resp, again, err := t.once()
		wait := time.Duration(0)
		if again {
			wait, again = t.next(resp)
		}
		if t.o.Observe != nil {
			t.o.Observe(t.attempt(sent, resp, err, again, wait, started))
		}
		if !again {
			return resp, err
		}
		t.drop(resp)
		if err := t.sleep(wait); err != nil {
			return nil, err
		}
	}
}

func (t *tries) attempt(sent *http.Request, resp *http.Response, err error, again bool, wait time.Duration, started time.Time) Attempt {
	a := Attempt{Number: t.number, Err: err, Retry: again, Wait: wait, Took: t.o.Clock.Now().Sub(started), Request: sent}
	if resp != nil {
		a.Status = resp.StatusCode
	}
	return a
}

// once makes one try; again says that it failed in a way that another may not.
func (t *tries) once() (sent *http.Request, resp *http.Response, again bool, err error) {
	ctx, cancel := context.WithCancelCause(t.req.Context())
	t.cut = func() { cancel(nil) }
	stop := t.limit(cancel)
	defer func() {
		stop()
		if resp == nil {
			cancel(nil)
		} else {
			resp.Body = withEnding(resp.Body, func() { cancel(nil) })
		}
	}()
	sent, err = t.prepared(ctx)
	if err != nil {
		return sent, nil, false, err
	}
	resp, err = t.o.Transport.RoundTrip(sent)
	var peeked []byte
	if err == nil {
		peeked, err = t.take(resp)
		if err != nil {
			_ = resp.Body.Close()
			resp = nil
		}
	}
	if err != nil {
		t.unsure = t.unsure || !unsent(err)
		return sent, nil, t.req.Context().Err() == nil && transientError(err), t.cause(ctx, err)
	}
	again = t.o.Profile.transientAnswer(resp, peeked)
	t.unsure = t.unsure || again && resp.StatusCode != http.StatusTooManyRequests
	return sent, resp, again, nil
}

// limit ends a try that takes too long.
func (t *tries) limit(cancel context.CancelCauseFunc) (stop func() bool) {
	bound := t.o.TryTimeout
	if left, bounded := t.left(); bounded && (bound <= 0 || left < bound) {
		bound = left
	}
	if bound <= 0 {
		return func() bool { return true }
	}
	return t.o.Clock.AfterFunc(bound, func() { cancel(errTryTimeout) })
}

// left is what remains of MaxElapsed, at least a nanosecond.
func (t *tries) left() (time.Duration, bool) {
	if t.o.MaxElapsed < 0 {
		return 0, false
	}
	return max(t.o.MaxElapsed-t.o.Clock.Now().Sub(t.began), 1), true
}

// prepared is the request of this try. RoundTrip, or this function where it fails,
// closes its body.
func (t *tries) prepared(ctx context.Context) (*http.Request, error) {
	sent := t.req.Clone(ctx)
	body := t.body.first
	if t.number > 1 {
		var err error
		if body, err = t.body.again(); err != nil {
			return sent, fmt.Errorf("client: read the request body again: %w", err)
		}
	}
	sent.Body, sent.GetBody = nil, nil
	if body != nil {
		sent.Body, sent.GetBody = faulty{body}, t.body.again
	}
	if t.o.Prepare == nil {
		return sent, nil
	}
	if err := t.o.Prepare(sent); err != nil {
		if body != nil {
			_ = body.Close()
		}
		return sent, fmt.Errorf("client: prepare the request: %w", err)
	}
	return sent, nil
}

// faulty marks the errors of a request body: another try would meet them again.
type faulty struct{ io.ReadCloser }

func (b faulty) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = &finalError{fmt.Errorf("client: read the request body: %w", err)}
	}
	return n, err
}

// take reads of an answer what has to be read inside the try: all of it for Call,
// the beginning of a 429 for Do.
func (t *tries) take(resp *http.Response) ([]byte, error) {
	if !t.whole {
		if resp.StatusCode != http.StatusTooManyRequests {
			return nil, nil
		}
		return peek(resp)
	}
	if resp.StatusCode < 200 { // a protocol was switched to (101): what follows is no body, and no bound ends it
		_ = resp.Body.Close()
		resp.Body = http.NoBody
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, t.o.MaxBody+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > t.o.MaxBody {
		return nil, &finalError{fmt.Errorf("client: the answer is larger than Options.MaxBody, %d bytes", t.o.MaxBody)}
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return data[:min(len(data), peekSize)], nil
}

// cause tells the bound of a try, and the caller's own end, from other errors.
func (t *tries) cause(ctx context.Context, err error) error {
	if own := t.req.Context(); own.Err() != nil {
		return fmt.Errorf("client: %w", context.Cause(own))
	}
	if errors.Is(context.Cause(ctx), errTryTimeout) {
		return errTryTimeout
	}
	return err
}

// next is the wait before another try, if there is to be one.
func (t *tries) next(resp *http.Response) (time.Duration, bool) {
	if t.number >= t.max {
		return 0, false
	}
	var demanded time.Duration
	if resp != nil {
		demanded = retryAfter(resp.Header, t.o.Clock.Now())
	}
	random := t.o.random
	if random == nil {
		random = rand.Float64
	}
	wait := backoff(t.number, demanded, random())
	if left, bounded := t.left(); bounded && wait >= left {
		return 0, false
	}
	if deadline, ok := t.req.Context().Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false
	}
	return wait, true
}

// sleep waits, no longer than the caller does.
func (t *tries) sleep(wait time.Duration) error {
	over := make(chan struct{})
	stop := t.o.Clock.AfterFunc(wait, func() { close(over) })
	select {
	case <-over:
		return nil
	case <-t.req.Context().Done():
		stop()
		return fmt.Errorf("client: %w", context.Cause(t.req.Context()))
	}
}

package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/client"
)

// A proxy that redirects has done nothing: that is a refusal, whether it says
// something or not, and not a success without a value.
func TestRedirectIsNoSuccess(t *testing.T) {
	for _, status := range []int{301, 302, 303, 304, 307, 308} {
		s := serve(t, answer(status, "", "Location", "https://elsewhere.example/"))
		c, _ := newClient(t, s, client.Options{})
		var out *struct{ ID int64 }
		meta, err := c.Call(t.Context(), client.Call{Operation: "Pick", Method: "POST", Path: "/", Body: 1, Keyed: true}, &out)
		var problem *client.Problem
		if !errors.As(err, &problem) || problem.Status != status || problem.Retryable || problem.Detail == "" || meta.Tries != 1 || s.tries() != 1 {
			t.Errorf("%d: %v, %+v, %d requests", status, err, meta, s.tries())
		}
		if _, err := c.Call(t.Context(), client.Call{Method: "POST", Path: "/", Keyed: true, Redirects: true}, nil); err != nil {
			t.Errorf("%d, which the operation has of its own: %v", status, err)
		}
	}
}

// Where every success has a body, one without comes of something between.
func TestSuccessWithoutItsBodyIsNoAnswer(t *testing.T) {
	for _, body := range []string{"", " \n", "null"} {
		s := serve(t, answer(200, body))
		c, _ := newClient(t, s, client.Options{})
		var out *struct{ ID int64 }
		_, err := c.Call(t.Context(), client.Call{Operation: "Pick", Method: "POST", Path: "/", Keyed: true, Key: "k", Returns: true}, &out)
		var failed *client.Error
		if !errors.As(err, &failed) || !failed.Unknown || failed.Key != "k" {
			t.Errorf("%q: %v", body, err)
		}
		if _, err := client.Status[int](t.Context(), c, client.Call{Method: "GET", Path: "/"}); err == nil {
			t.Errorf("%q: a status of nothing", body)
		}
		if _, err := c.Call(t.Context(), client.Call{Method: "POST", Path: "/", Keyed: true}, nil); err != nil {
			t.Errorf("%q, which may be: %v", body, err)
		}
	}
}

// The answer of a try that failed may never end. That holds up neither the next try
// nor the call.
func TestEndlessRefusalHoldsNothingUp(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	s := serve(t, endless, answer(201, "done"))
	c, err := client.New(s.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	resp, meta, err := c.Do(ctx, post(t, s, "k", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if closing := resp.Body.Close(); err != nil || closing != nil || string(body) != "done" || meta.Tries != 2 {
		t.Errorf("%q after %d tries, %v %v", body, meta.Tries, err, closing)
	}
}

// What follows a switch of protocols is no body, and no bound would end its reading.
func TestSwitchedProtocolIsNoSuccess(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_ = buffered.Flush()
		<-ended
		_ = conn.Close()
	})
	defer close(ended)
	c, err := client.New(s.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(t.Context(), client.Call{Method: "POST", Path: "/", Keyed: true}, nil)
		failed <- err
	}()
	select {
	case err := <-failed:
		var problem *client.Problem
		if !errors.As(err, &problem) || problem.Status != http.StatusSwitchingProtocols {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is read for ever")
	}
}

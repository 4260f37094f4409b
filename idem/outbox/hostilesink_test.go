package outbox

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// absent is an error whose methods need what a nil pointer does not have.
type absent struct{ text string }

func (a *absent) Error() string { return a.text }

// late wraps the end of a context and can't say so.
type late struct{}

func (late) Error() string { panic("no words") }
func (late) Unwrap() error { return context.DeadlineExceeded }

// A sink may return a pointer that is nil as an error, or one that panics when it is
// asked. That is a failure of this delivery, and not the end of the process.
func TestErrorThatPanicsIsAFailure(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 3))
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": Func(func(_ context.Context, e Event) error {
		switch e.Key {
		case "a-1":
			var none *absent
			return none
		case "a-2":
			return late{}
		}
		return nil
	})}}
	if done, err := d.Dispatch(t.Context()); err != nil || done != (Dispatched{Processed: 1, Failed: 2}) {
		t.Fatalf("%+v %v", done, err)
	}
	if n := ask[int](t, pool, "SELECT count(*) FROM idem.outbox WHERE failures = 1 AND starts_with(reason, 'the sink panicked: ')"); n != 2 {
		t.Errorf("%d events say why", n)
	}
}

// What a sink's error says counts, whatever is asked of it afterwards.
func TestToldKeepsWhatAnErrorSays(t *testing.T) {
	if told(nil) != nil {
		t.Error("an error of nothing")
	}
	err := told(RetryAfter(time.Minute, context.DeadlineExceeded))
	if permanent, after := what(err); permanent || after != time.Minute || !errors.Is(err, context.DeadlineExceeded) || err.Error() != context.DeadlineExceeded.Error() {
		t.Errorf("%v after %s", err, after)
	}
	if permanent, _ := what(told(Permanent(errors.New("never")))); !permanent || errors.Is(err, context.Canceled) {
		t.Error("no longer permanent")
	}
}

// A redirect to what is no URL is a redirect like any other: final, and its Location
// is in no reason.
func TestRedirectToNowhereIsFinal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://user:hunter2@%zz/")
		w.WriteHeader(http.StatusFound)
	}))
	defer server.Close()
	answer, err := (&HTTP{URL: server.URL}).Deliver(t.Context(), Event{Key: "k"})
	if final, _ := what(err); !final || answer.Status != http.StatusFound || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v %+v", err, answer)
	}
}

// A date is measured by the receiver's clock, which told it.
func TestRetryAfterIsByTheReceiversClock(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	theirs := now.Add(-100 * 24 * time.Hour)
	header := http.Header{"Date": {theirs.Format(http.TimeFormat)}, "Retry-After": {theirs.Add(time.Minute).Format(http.TimeFormat)}}
	if got := retryAfter(header, now); got != time.Minute {
		t.Error(got)
	}
}

// Prepare may change the headers of its request: those of the sink are others'.
func TestPrepareChangesItsOwnHeaders(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	sink := &HTTP{URL: server.URL, Header: http.Header{"Authorization": {"none"}}, Prepare: func(r *http.Request, _ Event) error {
		r.Header["Authorization"][0] = "of this event"
		return nil
	}}
	if _, err := sink.Deliver(t.Context(), Event{Key: "k"}); err != nil || sink.Header.Get("Authorization") != "none" {
		t.Errorf("%v, %v", err, sink.Header)
	}
}

// says answers with bytes as they are, and leaves the connection open until the test ends.
func says(t *testing.T, answer string) (url string) {
	t.Helper()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = buffered.WriteString(answer)
		_ = buffered.Flush()
		<-ended
		_ = conn.Close()
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(ended) })
	return server.URL
}

// A receiver that switches protocols has refused, and its connection, which no context
// ends any more, is not read.
func TestSwitchedProtocolIsFinalAndNotRead(t *testing.T) {
	ended := make(chan error, 1)
	sink := &HTTP{URL: says(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")}
	go func() {
		_, err := sink.Deliver(t.Context(), Event{Key: "k"})
		ended <- err
	}()
	select {
	case err := <-ended:
		if final, _ := what(err); !final {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is read for ever")
	}
}

// What is received instead of HTTP is in no reason.
func TestReasonsQuoteNothing(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 hunter2 x\r\n\r\n", "SSH-2.0 hunter2\r\n\r\n", "HTTP/1.1 200 OK\r\nhunter2\r\n\r\n", "HTTP/1.1 200 OK\r\n hunter2: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: hunter2\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: hunter2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhunter2\r\n",
	} {
		_, err := (&HTTP{URL: says(t, answer)}).Deliver(t.Context(), Event{Key: "k"})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

package outbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// What a receiver gets, and what is kept of its answer.
func TestHTTPSendsKeyAndTrace(t *testing.T) {
	pool := idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, headers, payload)
		VALUES ('s', 'o', 'paid', 'a"\1', '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "x=1", "cookie": "no"}', '{"n": 1}')`)
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.Header().Set("Location", "/x/1")
		w.Header().Set("Set-Cookie", "secret=1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id": 1}`)
	}))
	defer server.Close()
	sink := &HTTP{URL: server.URL + "/hook", Client: server.Client(), Header: http.Header{"authorization": {"Bearer t"}}}
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"paid": sink}}
	if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if got.Method != http.MethodPost || got.URL.Path != "/hook" || body != `{"n": 1}` {
		t.Errorf("%s %s %s", got.Method, got.URL, body)
	}
	for name, want := range map[string]string{
		"Idempotency-Key": `"a\"\\1"`, "Content-Type": "application/json", "Authorization": "Bearer t", "Cookie": "",
		"Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Tracestate": "x=1",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	row := ask[string](t, pool, "SELECT concat_ws(' ', status, answer_status, answer_headers->>'Location', answer_headers->>'Set-Cookie', answer_body) FROM idem.outbox")
	if row != `PROCESSED 201 /x/1 {"id": 1}` {
		t.Error(row)
	}
}

// Case outbox-3: a receiver that answers 429 with Retry-After: 7 is not asked
// before 7 seconds have gone, by the database's clock.
func TestCase_outbox_3_RetryAfter(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 1))
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": &HTTP{URL: server.URL}}}
	if done, err := d.Dispatch(t.Context()); err != nil || done != (Dispatched{Failed: 1}) {
		t.Fatalf("%+v %v", done, err)
	}
	if wait := ask[float64](t, pool, "SELECT extract(epoch FROM due_at - created_at)::float8 FROM idem.outbox"); wait < 7 || wait > 60 {
		t.Errorf("the next try is %f s after the event", wait)
	}
	run(t, pool, "UPDATE idem.outbox SET due_at = due_at - interval '7 seconds'")
	if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 1 || calls != 2 {
		t.Errorf("%+v %v, %d calls", done, err, calls)
	}
}

// Which answers are final; requirements A9.
func TestJudge(t *testing.T) {
	const transient, permanent, success = "transient", "permanent", "success"
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		status int
		header string // "name: value"
		body   string
		want   string
		after  time.Duration
	}{
		{200, "", "", success, 0}, {204, "", "", success, 0}, {202, "Retry-After: 5", "", success, 0},
		{408, "", "", transient, 0}, {409, "", "", transient, 0}, {425, "", "", transient, 0}, {429, "", "", transient, 0},
		{500, "", "", transient, 0}, {502, "", "", transient, 0}, {503, "Retry-After: 120", "", transient, 2 * time.Minute}, {504, "", "", transient, 0}, {529, "", "", transient, 0},
		{400, "", "", permanent, 0}, {401, "", "", permanent, 0}, {402, "", "", permanent, 0}, {403, "", "", permanent, 0},
		{404, "", "", permanent, 0}, {413, "", "", permanent, 0}, {422, "Retry-After: 5", "", permanent, 0}, {302, "Location: /x", "", permanent, 0},
		{429, "", `{"error": "enforced_spend_limit_reached"}`, permanent, 0},
		{422, "x-should-retry: true", "", transient, 0}, {503, "x-should-retry: false", "", permanent, 0},
		{503, "Retry-After: Fri, 02 Jan 2026 03:05:05 GMT", "", transient, time.Minute},
		{503, "Retry-After: Fri, 02 Jan 2026 03:00:00 GMT", "", transient, 0},
		{429, "x-should-retry: true", `{"error": "enforced_spend_limit_reached"}`, permanent, 0}, {200, "X-Idempotency-Status: processing", "", transient, 0},
		{503, "Retry-After: 99999999999", "", transient, 24 * time.Hour}, {503, "Retry-After: 99999999999999999999999", "", transient, 24 * time.Hour},
		{503, "Retry-After: 999999999", "", transient, 24 * time.Hour}, {503, "Retry-After: -4", "", transient, 0}, {503, "Retry-After: soon", "", transient, 0},
	} {
		response := &http.Response{StatusCode: c.status, Header: http.Header{}}
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			response.Header.Set(name, value)
		}
		err := judge(response, []byte(c.body), now)
		final, after := what(err)
		got := map[bool]string{true: permanent, false: transient}[final]
		if err == nil {
			got = success
		}
		if got != c.want || after != c.after {
			t.Errorf("%d %s %s: %s after %s, want %s after %s", c.status, c.header, c.body, got, after, c.want, c.after)
		}
	}
}

// A redirect is not followed: the event would go to a receiver that nobody chose.
// A reason shows neither the URL nor what was answered.
func TestHTTPFollowsNoRedirectAndShowsNoURL(t *testing.T) {
	followed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		followed = followed || r.URL.Path == "/elsewhere"
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	_, err := (&HTTP{URL: server.URL, Client: &http.Client{}}).Deliver(t.Context(), Event{Key: "k"})
	if final, _ := what(err); !final || followed || err.Error() != "the receiver answered 307 Temporary Redirect" {
		t.Errorf("%v, followed: %t", err, followed)
	}
	server.Close()
	_, err = (&HTTP{URL: server.URL + "/?token=hunter2"}).Deliver(t.Context(), Event{Key: "k"})
	if final, _ := what(err); err == nil || final || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	_, err = (&HTTP{URL: "http://u:hunter2@[::1"}).Deliver(t.Context(), Event{Key: "k"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// An answer that is too long or no text is not kept, and no reason to try again.
func TestAnswersThatCannotBeKept(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 3))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[string]string{`"a-1"`: strings.Repeat("x", maxContent+1), `"a-2"`: "a\x00b", `"a-3"`: "\xff"}[r.Header.Get("Idempotency-Key")]
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	if done, err := (&Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": &HTTP{URL: server.URL}}}).Dispatch(context.Background()); err != nil || done.Processed != 3 {
		t.Errorf("%+v %v", done, err)
	}
	if n := ask[int](t, pool, "SELECT count(*) FROM idem.outbox WHERE answer_status = 200 AND answer_body IS NULL"); n != 3 {
		t.Errorf("%d", n)
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

// event is an event as the outbox has it.
type event struct {
	Scope, Topic, Key string
	OrderKey          string
	Headers           map[string]string
	Payload           json.RawMessage
}

func events(t *testing.T, s *service) []event {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), "SELECT scope, topic, key, order_key, coalesce(headers, '{}'), payload FROM idem.outbox ORDER BY created_at")
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[event])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A payment tells that it was made and captured, each once: replays, refusals and
// concurrent copies tell nothing.
func TestPaymentsTellOfThemselvesOnce(t *testing.T) {
	both := twoServices(t)
	s := both[0]
	c := s.as(t, "acme")
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	made := c.send(t, request{method: "POST", path: "/v1/payments", key: "k", body: paymentBody("order-1"), header: http.Header{"Traceparent": {trace}}})
	id := fmt.Sprint(made.must(t, 201)["id"])
	c.post(t, "/v1/payments", "k", paymentBody("order-1")).replays(t, made)
	c.post(t, "/v1/payments", "k2", paymentBody("order-1")).refused(t, 409, "intent-conflict")
	captured := make(chan answer)
	const copies = 32
	for i := range copies {
		go func() { captured <- c.via(both[i%2]).post(t, "/v1/payments/"+id+"/capture", "c", "") }()
	}
	var capture answer
	for range copies {
		capture = <-captured
		capture.must(t, 200)
	}
	c.post(t, "/v1/payments/"+id+"/capture", "c2", "").refused(t, 409, "not_authorized")

	got := events(t, s)
	if len(got) != 2 {
		t.Fatalf("%d events: %+v", len(got), got)
	}
	for i, want := range []struct{ topic, payload, trace string }{
		{"payment.created", made.body, trace}, {"payment.captured", capture.body, ""},
	} {
		e := got[i]
		if e.Topic != want.topic || e.Scope != "acme" || e.OrderKey != "order-1" || len(e.Key) != 32 || e.Headers["traceparent"] != want.trace {
			t.Errorf("%+v", e)
		}
		if string(e.Payload) != want.payload {
			t.Errorf("payload %s\nanswer  %s", e.Payload, want.payload)
		}
	}
}

// The receiver gets what was committed, under the event's key and with its trace;
// a replay gives it nothing. It refuses the first try, and gets the same again.
func TestEventsReachTheirReceiver(t *testing.T) {
	type delivery struct{ key, trace, body string }
	received := make(chan delivery, 10)
	tries := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		received <- delivery{r.Header.Get("Idempotency-Key"), r.Header.Get("Traceparent"), string(body)}
		if tries++; tries == 1 { // events of one ordering key come one after the other
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	t.Setenv("EVENTS_URL", receiver.URL)
	s := newService(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.api.Run(ctx) }()

	c := s.as(t, "acme")
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	made := c.send(t, request{method: "POST", path: "/v1/payments", key: "k", body: paymentBody("order-1"), header: http.Header{"Traceparent": {trace}}})
	made.must(t, 201)
	c.post(t, "/v1/payments", "k", paymentBody("order-1")).replays(t, made)
	first, second := <-received, <-received
	if want := (delivery{`"` + events(t, s)[0].Key + `"`, trace, made.body}); first != want || second != want {
		t.Errorf("got  %+v\nand  %+v\nwant %+v", first, second, want)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM idem.outbox WHERE status = 'PROCESSED'"); n != 1 {
		t.Errorf("%d events are processed", n)
	}
}

// A receiver knows no tenants: two of them that use one key are two events.
func TestEventKeysOfTwoTenantsDiffer(t *testing.T) {
	s := newService(t)
	for _, tenant := range []string{"acme", "other"} {
		s.as(t, tenant).post(t, "/v1/payments", "k", paymentBody("order-1")).must(t, 201)
	}
	if e := events(t, s); len(e) != 2 || e[0].Key == e[1].Key {
		t.Errorf("%+v", e)
	}
}

// A call from Go tells the same as a request, with the trace of its context.
func TestCallsFromGoTellTheSame(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	ctx := idem.WithTraceContext(t.Context(), trace, "")
	for range 2 {
		if _, _, err := c.api.CreatePayment(ctx, c.caller(), "k", api.CreatePaymentInput{OrderID: "order-1", Amount: 5, Currency: "EUR"}); err != nil {
			t.Fatal(err)
		}
	}
	e := events(t, s)
	if len(e) != 1 || e[0].Headers["traceparent"] != trace || !strings.Contains(string(e[0].Payload), `"order_id":"order-1"`) {
		t.Errorf("%+v", e)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
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

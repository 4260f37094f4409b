package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

// orderCreated is a message of the shop, as its outbox and a broker bring it.
func orderCreated(id, tenant string, order, items int) idem.Message {
	return idem.Message{ID: id, Topic: "order.created", Type: "order.created", Scope: "payments", Attempt: 1, Headers: http.Header{"Scope": {tenant}},
		Body: fmt.Appendf(nil, `{"order": {"id": %d, "items": %d, "total": "12.00"}, "at": "2026-01-01"}`, order, items)}
}

func (s *service) shipments(t *testing.T, tenant string) int {
	t.Helper()
	return query[int](t, s.pool, "SELECT count(*) FROM shipments WHERE tenant_id = $1", tenant)
}

func (s *service) consume(t *testing.T, m idem.Message, want idem.Disposition, code string) {
	t.Helper()
	if got, err := s.api.Consume(t.Context(), m); got != want || idem.CodeOf(err) != code {
		t.Errorf("%s: %s %v, want %s %s", m.ID, got, err, want, code)
	}
}

// Delivered again, at once and to another process: one shipment, and each delivery is
// acknowledged.
func TestMessagesPrepareOneShipment(t *testing.T) {
	services := twoServices(t)
	given := together(32, func(i int) answer {
		return answer{body: fmt.Sprint(services[i%2].api.Consume(t.Context(), orderCreated("m-1", "acme", 1, 3)))}
	})
	for i, got := range given {
		if got.body != "ack <nil>" {
			t.Errorf("delivery %d: %s", i, got.body)
		}
	}
	services[0].consume(t, orderCreated("m-1", "acme", 1, 3), idem.Ack, "")
	services[0].consume(t, orderCreated("m-1", "other", 1, 3), idem.Ack, "") // a tenant of its own
	if a, o := services[0].shipments(t, "acme"), services[0].shipments(t, "other"); a != 1 || o != 1 {
		t.Errorf("%d and %d shipments", a, o)
	}
	if days := query[int](t, services[0].pool, "SELECT round(extract(epoch FROM max(expires_at - now())) / 86400)::int FROM idem.keys WHERE key = 'm-1'"); days != 30 {
		t.Errorf("the record is kept for %d days", days)
	}
}

func TestMessagesThatAreNoOrdersAreDead(t *testing.T) {
	s := newService(t)
	s.consume(t, orderCreated("m-1", "acme", 1, 0), idem.Dead, "nothing_to_send")
	s.consume(t, orderCreated("", "acme", 1, 1), idem.Dead, "message-id-missing")
	s.consume(t, orderCreated("m-2", "", 1, 1), idem.Dead, "unauthenticated")
	m := orderCreated("m-3", "acme", 1, 1)
	m.Body = []byte(`{"order": "1"}`)
	s.consume(t, m, idem.Dead, "input-invalid")
	s.consume(t, orderCreated("m-4", "acme", 2, 1), idem.Ack, "")
	s.consume(t, orderCreated("m-4", "acme", 3, 1), idem.Dead, "key-reused")
	if n := s.shipments(t, "acme"); n != 1 {
		t.Errorf("%d shipments", n)
	}
}

// The typed method is the same operation.
func TestMessageFromGoHasItsRecord(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	s.consume(t, orderCreated("m-1", "acme", 7, 2), idem.Ack, "")
	in := api.PrepareShipmentInput{}
	in.Order.ID, in.Order.Items = 7, 2
	out, meta, err := s.api.PrepareShipment(t.Context(), c.caller(), "m-1", in)
	if err != nil || !meta.Replayed || out.OrderID != 7 {
		t.Errorf("%+v, %+v, %v", out, meta, err)
	}
	if got := s.api.Topics(); len(got) != 1 || got[0] != "order.created" {
		t.Errorf("topics %q", got)
	}
}

// A consumer is on no router: it has no caller, and nobody may come in that way.
func TestConsumersHaveNoRoute(t *testing.T) {
	s := newService(t)
	if err := s.api.Mount(chi.NewRouter(), api.PrepareShipment); err == nil || !strings.Contains(err.Error(), "order.created") {
		t.Errorf("%v", err)
	}
}

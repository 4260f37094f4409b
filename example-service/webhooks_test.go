package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

// The service takes both: the secret is being changed.
const oldSecret, newSecret = "whsec_old", "whsec_new"

// delivery is one of the acquirer's, about a payment of a tenant. Its created and livemode
// are members that nobody binds.
func delivery(id, kind, tenant, payment string, amount int) string {
	return fmt.Sprintf(`{"id": %q, "type": %q, "account": %q, "created": 1767225600, "livemode": true,
		"data": {"object": {"payment_id": %s, "amount": %d, "currency": "eur"}}}`, id, kind, tenant, payment, amount)
}

// signature is the header of a delivery, signed now.
func signature(secret, body string, at time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return http.Header{"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))}}
}

// deliver sends an event as the acquirer does: signed, and without an API key.
func (s *service) deliver(t testing.TB, secret, body string) answer {
	t.Helper()
	sender := &client{service: s}
	return sender.send(t, request{method: "POST", path: "/webhooks/stripe", body: body, header: signature(secret, body, time.Now())})
}

func (c *client) refunded(t testing.TB, payment string) int {
	t.Helper()
	return query[int](t, c.pool, "SELECT refunded FROM payments WHERE id = $1::text::bigint AND tenant_id = $2", payment, c.tenant)
}

// A delivery is repeated for days, with a new signature each time: one effect.
func TestWebhookDeliveriesAreRepeated(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	id := c.captured(t, "order-1")
	body := delivery("evt_1", "payment.refunded", "acme", id, 100)
	first := services[0].deliver(t, oldSecret, body)
	if m := first.must(t, 200); fmt.Sprint(m["refunded"]) != "100" {
		t.Error(first.body)
	}
	services[1].deliver(t, newSecret, body).replays(t, first)
	services[1].deliver(t, oldSecret, strings.Replace(body, "1767225600", "1767225601", 1)).replays(t, first)
	if got := c.refunded(t, id); got != 100 {
		t.Errorf("%d refunded", got)
	}
	// Another event of the same payment and amount is another one; so is the same id of another type.
	services[0].deliver(t, oldSecret, delivery("evt_2", "payment.chargeback", "acme", id, 100)).must(t, 200)
	if got := c.refunded(t, id); got != 200 {
		t.Errorf("%d refunded", got)
	}
	if days := query[int](t, c.pool, "SELECT round(extract(epoch FROM max(expires_at - now())) / 86400)::int FROM idem.keys WHERE key = 'webhook-stripe-evt_1'"); days != 30 {
		t.Errorf("the record is kept for %d days", days)
	}
}

func TestWebhookTwinsHaveOneEffect(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	id := c.captured(t, "order-1")
	body := delivery("evt_1", "payment.refunded", "acme", id, 10)
	for i, got := range together(32, func(i int) answer { return services[i%2].deliver(t, newSecret, body) }) {
		if got.status != 200 || !strings.Contains(got.body, `"refunded":10`) {
			t.Errorf("%d: %d %s", i, got.status, got.body)
		}
	}
	if got := c.refunded(t, id); got != 10 {
		t.Errorf("%d refunded", got)
	}
}

// Who can't sign learns nothing and changes nothing.
func TestWebhookForgeriesAreRefused(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	id := c.captured(t, "order-1")
	body := delivery("evt_1", "payment.refunded", "acme", id, 100)
	signed := signature(newSecret, body, time.Now())
	for name, r := range map[string]request{
		"no signature":     {body: body},
		"another secret":   {body: body, header: signature("whsec_guess", body, time.Now())},
		"another amount":   {body: strings.Replace(body, "100", "999", 1), header: signed},
		"another tenant":   {body: strings.Replace(body, "acme", "evil", 1), header: signed},
		"an hour old":      {body: body, header: signature(newSecret, body, time.Now().Add(-time.Hour))},
		"an hour ahead":    {body: body, header: signature(newSecret, body, time.Now().Add(time.Hour))},
		"an unknown type":  {body: delivery("evt_1", "payment.unknown", "acme", id, 1)},
		"no JSON":          {body: "payment.refunded"},
		"a client's key":   {body: body, key: "webhook-stripe-evt_1"},
		"no tenant at all": {body: delivery("evt_1", "payment.refunded", "", id, 1), header: signature(newSecret, delivery("evt_1", "payment.refunded", "", id, 1), time.Now())},
	} {
		r.method, r.path = "POST", "/webhooks/stripe"
		got := c.send(t, r)
		got.refused(t, 401, "unauthenticated")
		if strings.Contains(got.body, "ignature") || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := c.refunded(t, id); got != 0 {
		t.Errorf("%d refunded", got)
	}
	if n := query[int](t, c.pool, "SELECT count(*) FROM idem.keys WHERE key LIKE 'webhook-%'"); n != 0 {
		t.Errorf("%d records of forgeries", n)
	}
	if got := c.send(t, request{method: "GET", path: "/webhooks/stripe"}); got.status != 405 {
		t.Errorf("GET: %d", got.status)
	}
}

// Types that no operation declares are none of the service's business.
func TestWebhookUnknownTypesAreAcknowledged(t *testing.T) {
	s := newService(t)
	got := s.deliver(t, newSecret, delivery("evt_1", "charge.updated", "acme", "1", 1))
	if got.status != 204 || got.body != "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM idem.keys"); n != 0 {
		t.Errorf("%d records", n)
	}
}

// A client error is recorded, and never acknowledged: the sender shows it to somebody.
func TestWebhookRefusalsAreRecorded(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	id := c.payment(t, "order-1")
	body := delivery("evt_1", "payment.refunded", "acme", id, 100)
	first := s.deliver(t, newSecret, body)
	first.refused(t, 409, "more_than_left")
	c.post(t, "/v1/payments/"+id+"/capture", newKey(), "").must(t, 200)
	again := s.deliver(t, newSecret, body)
	again.replays(t, first)
	s.deliver(t, newSecret, delivery("evt_2", "payment.refunded", "acme", id, 0)).refused(t, 422, "input-invalid")
	s.deliver(t, newSecret, strings.Replace(delivery("evt_3", "payment.refunded", "acme", id, 1), `"amount": 1`, `"amount": "x"`, 1)).refused(t, 422, "input-invalid")
	s.deliver(t, newSecret, delivery("evt_1", "payment.refunded", "acme", id, 99)).refused(t, 422, "key-reused")
	if got := c.refunded(t, id); got != 0 {
		t.Errorf("%d refunded", got)
	}
}

// The scope is what the verifier says: one tenant's event does nothing to another's
// payments, and equal ids of two tenants do not meet.
func TestWebhookScopesAreTenants(t *testing.T) {
	s := newService(t)
	acme, other := s.as(t, "acme"), s.as(t, "other")
	id := acme.captured(t, "order-1")
	s.deliver(t, newSecret, delivery("evt_1", "payment.refunded", "other", id, 100)).refused(t, 409, "more_than_left")
	s.deliver(t, newSecret, delivery("evt_1", "payment.refunded", "acme", id, 100)).must(t, 200)
	if acme.refunded(t, id) != 100 {
		t.Error("nothing refunded")
	}
	mine := other.payment(t, "order-1")
	s.deliver(t, newSecret, delivery("evt_9", "payment.captured", "other", mine, 1)).must(t, 200)
	other.post(t, "/v1/payments/"+mine+"/capture", newKey(), "").refused(t, 409, "not_authorized")
}

// The same operation from Go, for a queue of deliveries or a test: the key is the event's.
func TestWebhookFromGoHasTheDeliverysRecord(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	id := c.captured(t, "order-1")
	s.deliver(t, newSecret, delivery("evt_1", "payment.refunded", "acme", id, 100)).must(t, 200)
	in := api.PaymentRefundedInput{}
	in.Data.Object.PaymentID, in.Data.Object.Amount = number(t, id), 100
	out, meta, err := s.api.PaymentRefunded(t.Context(), c.caller(), "webhook-stripe-evt_1", in)
	if err != nil || !meta.Replayed || out.Refunded != 100 {
		t.Errorf("%+v, %+v, %v", out, meta, err)
	}
	if _, _, err := s.api.PaymentRefunded(t.Context(), c.caller(), "", in); err == nil {
		t.Error("without a key it ran unprotected")
	}
}

// A service that could verify nothing does not start.
func TestWebhookSecretsAreRequired(t *testing.T) {
	s := newService(t)
	for name, verifiers := range map[string]map[string]idem.Verifier{
		"no verifier":    nil,
		"an empty one":   webhooks([]string{""}),
		"of another one": {"stripe": webhooks([]string{"x"})["stripe"], "strpe": webhooks([]string{"x"})["stripe"]},
	} {
		_, err := api.New(s.pool, api.Options{Caller: callerOf, Go: functions(s.client), Webhooks: verifiers, Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "strpe") && !strings.Contains(err.Error(), `"stripe"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

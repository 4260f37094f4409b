package main

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The intent holds whatever key is sent, also after the key has expired; the
// refusal shows what is there.
func TestIntentOutlivesTheKey(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	made := c.post(t, "/v1/payments", "k", paymentBody("order-1"))
	payment := made.must(t, 201)

	refusal := c.post(t, "/v1/payments", "k2", paymentBody("order-1"))
	checkExisting(t, refusal, payment)
	c.post(t, "/v1/payments", "k2", paymentBody("order-1")).replays(t, refusal)
	c.post(t, "/v1/payments", "k", paymentBody("order-1")).replays(t, made)

	// Another amount for the same order is the same intent.
	other := c.post(t, "/v1/payments", "k3", `{"order_id": "order-1", "amount": 1, "currency": "USD"}`)
	checkExisting(t, other, payment)

	expire(t, s.pool)
	late := c.post(t, "/v1/payments", "k", paymentBody("order-1"))
	checkExisting(t, late, payment)
	c.post(t, "/v1/payments", "k", paymentBody("order-1")).replays(t, late)

	// It is shown as it is now.
	c.post(t, fmt.Sprintf("/v1/payments/%v/capture", payment["id"]), newKey(), "").must(t, 200)
	payment["status"] = "captured"
	checkExisting(t, c.post(t, "/v1/payments", "k4", paymentBody("order-1")), payment)

	if n := query[int](t, s.pool, "SELECT count(*) FROM payments"); n != 1 {
		t.Errorf("%d payments", n)
	}
	// Another tenant's order of the same name is another intent.
	s.as(t, "other").post(t, "/v1/payments", "k", paymentBody("order-1")).must(t, 201)
}

func checkExisting(t *testing.T, refusal answer, payment map[string]any) {
	t.Helper()
	problem := refusal.refused(t, 409, "intent-conflict")
	if got, want := fmt.Sprint(problem["existing"]), fmt.Sprint(payment); got != want {
		t.Errorf("existing %s\nwant %s", got, want)
	}
	if refusal.header.Get("Location") != "" {
		t.Errorf("a refusal has a Location: %s", refusal.header.Get("Location"))
	}
}

// A payment can be captured once, whatever keys are sent.
func TestCapturePayment(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	id := c.payment(t, "order-1")
	first := c.post(t, "/v1/payments/"+id+"/capture", "k", "")
	if m := first.must(t, 200); m["status"] != "captured" || m["captured_at"] == nil {
		t.Errorf("%s", first.body)
	}
	c.post(t, "/v1/payments/"+id+"/capture", "k2", "").refused(t, 409, "not_authorized")
	c.post(t, "/v1/payments/"+id+"/capture", "k", "{}").replays(t, first) // an empty body is an empty object
	s.as(t, "other").post(t, "/v1/payments/"+id+"/capture", "k", "").refused(t, 409, "not_authorized")
	expire(t, s.pool)
	c.post(t, "/v1/payments/"+id+"/capture", "k", "").refused(t, 409, "not_authorized")
}

func TestListPayments(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	execute(t, s.pool, `INSERT INTO payments (tenant_id, order_id, amount, currency)
		SELECT tenant, 'order-' || n, n, 'EUR' FROM generate_series(1, 105) n, (VALUES ('acme'), ('other')) v (tenant) ORDER BY n`)
	page := func(query string) []any {
		t.Helper()
		return c.get(t, "/v1/payments"+query).must(t, 200)["items"].([]any)
	}
	for query, want := range map[string]int{"": 20, "?limit=1": 1, "?limit=100": 100, "?limit=%2099": -1, "?limit=+99": -1} {
		if want < 0 {
			c.get(t, "/v1/payments"+query).refused(t, 422, "input-invalid")
		} else if got := page(query); len(got) != want {
			t.Errorf("%q: %d items", query, len(got))
		}
	}
	var orders []string
	after := "0"
	for pages := 0; ; pages++ {
		items := page("?limit=50&after=" + after)
		if len(items) == 0 {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		for _, item := range items {
			orders = append(orders, item.(map[string]any)["order_id"].(string))
			after = string(item.(map[string]any)["id"].(json.Number))
		}
	}
	if len(orders) != 105 || orders[0] != "order-1" || orders[104] != "order-105" {
		t.Errorf("%d payments: %v", len(orders), orders)
	}
	if got := s.as(t, "nobody").get(t, "/v1/payments"); got.body != `{"items":[]}` {
		t.Errorf("no payments: %s", got.body)
	}
	// A read ignores a key.
	got := c.send(t, request{method: "GET", path: "/v1/payments?limit=1", key: "k"})
	got.must(t, 200)
	if got.header.Get(replayedHeader) != "" || keys(t, s.pool) != 0 {
		t.Error("a read has a record")
	}
}

// What is the same request, and what is not.
func TestFingerprint(t *testing.T) {
	c := newService(t).as(t, "acme")
	first := c.post(t, "/v1/payments", "k", `{"order_id": "o", "amount": 9007199254740993, "currency": "EUR"}`)
	first.must(t, 201)
	for _, same := range []string{
		`{"currency":"EUR","amount":9007199254740993,"order_id":"o"}`,
		` { "currency" : "\u0045UR" , "amount" : 9007199254740993.0 , "order_id" : "o", "note": null } `,
		`{"order_id": "o", "amount": "9007199254740993", "currency": "EUR"}`,
		`{"order_id": "o", "amount": 9007199254740993e0, "currency": "EUR"}`,
	} {
		c.post(t, "/v1/payments", "k", same).replays(t, first)
	}
	for _, other := range []string{
		`{"order_id": "o", "amount": 9007199254740992, "currency": "EUR"}`,
		`{"order_id": "p", "amount": 9007199254740993, "currency": "EUR"}`,
		`{"order_id": "o", "amount": 9007199254740993, "currency": "USD"}`,
		`{"order_id": "o", "amount": 9007199254740993, "currency": "EUR", "note": ""}`,
	} {
		c.post(t, "/v1/payments", "k", other).refused(t, 422, "key-reused")
	}
}

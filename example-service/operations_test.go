package main

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"testing"
)

// newKey is a key that nobody else uses.
func newKey() string { return rand.Text() }

// operation is one operation as a client sees it: a request, and another one
// that must not be taken for it.
type operation struct {
	name   string
	first  request
	other  request
	status int
	// location begins the Location of a success; "" where there is none.
	location string
	differs  string // the part of the request in which other differs
}

// operations are all that take a key. What they need is made for a client; so
// that two clients have the same text, ids included, use one set for both.
func operations(t testing.TB, c *client) []operation {
	t.Helper()
	from, to := c.account(t, 1000), c.account(t, 1000)
	mine, others := c.payment(t, "taken-1"), c.payment(t, "taken-2")
	paid := c.captured(t, "paid")
	for _, id := range []string{"patched", "gone", "stays"} {
		c.customer(t, id)
	}
	put := func(body string) request {
		return request{method: "PUT", path: "/v1/customers/put", body: body}
	}
	patch := func(body string) request {
		return request{method: "PATCH", path: "/v1/customers/patched", body: body}
	}
	post := func(path, body string) request { return request{method: "POST", path: path, body: body} }
	return []operation{
		{"CreateAccount", post("/v1/accounts", `{"owner": "Ada", "currency": "EUR"}`),
			post("/v1/accounts", `{"owner": "Ada", "currency": "USD"}`), 201, "/v1/accounts/", "body"},
		{"CreatePayment", post("/v1/payments", paymentBody("order-1")),
			post("/v1/payments", paymentBody("order-2")), 201, "/v1/payments/", "body"},
		{"CapturePayment", post("/v1/payments/"+mine+"/capture", ""),
			post("/v1/payments/"+others+"/capture", ""), 200, "", "path"},
		{"RefundPayment", post("/v1/payments/"+paid+"/refunds", `{"amount": 500, "reason": "damaged"}`),
			post("/v1/payments/"+paid+"/refunds", `{"amount": 500}`), 201, "", "body"},
		{"CreateTransfer", post("/v1/transfers", transferBody(from, to, 100)),
			post("/v1/transfers", transferBody(from, to, 101)), 201, "/v1/transfers/", "body"},
		{"PlaceOrder", post("/v1/orders", `{"reference": "R-1", "items": [{"sku": "PEN-1", "qty": 2, "price": "3.50"}]}`),
			post("/v1/orders", `{"reference": "R-1", "items": [{"sku": "PEN-1", "qty": 3, "price": "3.50"}]}`), 201, "/v1/orders/", "body"},
		{"ChargeRide", post("/v1/rides", rideBody("r-1", "tok_visa")),
			post("/v1/rides", rideBody("r-2", "tok_visa")), 201, "", "body"},
		{"PutCustomer", put(`{"name": "Grace"}`), put(`{"name": "Grace", "email": "grace@example.com"}`), 201, "", "body"},
		{"PatchCustomer", patch(`{"name": "Grace"}`), patch(`{"name": "Grace", "email": null}`), 200, "", "body"},
		{"DeleteCustomer", request{method: "DELETE", path: "/v1/customers/gone"},
			request{method: "DELETE", path: "/v1/customers/stays"}, 204, "", "path"},
	}
}

func (r request) with(key string) request { r.key = key; return r }

func TestOperations(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	for _, op := range operations(t, c) {
		t.Run(op.name, func(t *testing.T) {
			key, before := newKey(), state(t, s.pool)
			first := c.send(t, op.first.with(key))
			checkFirst(t, op, key, first)
			after := state(t, s.pool)
			if after == before {
				t.Error("a new request changed nothing")
			}
			for range 3 {
				c.send(t, op.first.with(key)).replays(t, first)
			}
			problem := c.send(t, op.other.with(key)).refused(t, 422, "key-reused")
			if want := "This key was used for another request; what differs: " + op.differs + "."; problem["detail"] != want {
				t.Errorf("detail %q, want %q", problem["detail"], want)
			}
			// A refusal does not take the record's place.
			c.send(t, op.first.with(key)).replays(t, first)
			if state(t, s.pool) != after {
				t.Error("a replay, or a refusal, changed something")
			}
		})
	}
}

func checkFirst(t *testing.T, op operation, key string, first answer) {
	t.Helper()
	if first.status != op.status {
		t.Fatalf("status %d, want %d: %s", first.status, op.status, first.body)
	}
	if first.header.Get(replayedHeader) != "false" {
		t.Errorf("%s: %q at the first request", replayedHeader, first.header.Get(replayedHeader))
	}
	if got := first.header.Get("Idempotency-Key"); got != `"`+key+`"` {
		t.Errorf("the key comes back as %s", got)
	}
	if op.status == http.StatusNoContent {
		if first.body != "" || first.header.Get("Content-Type") != "" {
			t.Errorf("204 with %q of type %q", first.body, first.header.Get("Content-Type"))
		}
		return
	}
	if got := first.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	want := ""
	if op.location != "" {
		want = op.location + fmt.Sprint(first.members(t)["id"])
	}
	if got := first.header.Get("Location"); got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
}

// What was made can be read, and is what the answer said.
func TestReads(t *testing.T) {
	c := newService(t).as(t, "acme")
	for path, body := range map[string]string{
		"/v1/accounts": `{"owner": "Ada", "currency": "EUR", "balance": 9007199254740993}`,
		"/v1/payments": `{"order_id": "order-1", "amount": 9007199254740993, "currency": "EUR", "note": "żółw \"<&>"}`,
	} {
		made := c.post(t, path, newKey(), body)
		members := made.must(t, 201)
		read := c.get(t, made.header.Get("Location"))
		for name, value := range read.must(t, 200) {
			if want, ok := members[name]; ok && want != value {
				t.Errorf("%s: read %v, made %v", name, value, want)
			}
		}
		if read.header.Get(replayedHeader) != "" {
			t.Error("a read says whether it is a replay")
		}
	}
	c.get(t, "/v1/accounts/999").refused(t, 404, "no_such_account")
	c.get(t, "/v1/payments/999").refused(t, 404, "no_such_payment")
}

// The same key on another operation is another request.
func TestCase_race_7(t *testing.T) {
	c := newService(t).as(t, "acme")
	for _, op := range operations(t, c) {
		if got := c.send(t, op.first.with("one-for-all")); got.status != op.status || got.replayed() {
			t.Errorf("%s: %d %s", op.name, got.status, got.body)
		}
	}
}

// Declared errors are recorded: the answer stays, also once its cause is gone.
func TestDeclaredErrors(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	captured := c.payment(t, "captured")
	c.post(t, "/v1/payments/"+captured+"/capture", newKey(), "").must(t, 200)
	poor, rich := c.account(t, 10), c.account(t, 1000)

	cases := []struct {
		name   string
		r      request
		status int
		code   string
		cure   string // SQL after which a new key succeeds
	}{
		{"captured before", request{method: "POST", path: "/v1/payments/" + captured + "/capture"}, 409, "not_authorized",
			"UPDATE payments SET status = 'authorized'"},
		{"nothing to capture", request{method: "POST", path: "/v1/payments/999/capture"}, 409, "not_authorized",
			"INSERT INTO payments (id, tenant_id, order_id, amount, currency) OVERRIDING SYSTEM VALUE VALUES (999, 'acme', '999', 1, 'EUR')"},
		{"no such customer", request{method: "PATCH", path: "/v1/customers/nobody", body: `{"name": "x"}`}, 404, "not_found",
			"INSERT INTO customers (tenant_id, id, name) VALUES ('acme', 'nobody', 'x')"},
		{"nobody to delete", request{method: "DELETE", path: "/v1/customers/nobody-2"}, 404, "not_found",
			"INSERT INTO customers (tenant_id, id, name) VALUES ('acme', 'nobody-2', 'x')"},
		{"too little money", request{method: "POST", path: "/v1/transfers", body: transferBody(poor, rich, 11)}, 402, "insufficient_funds",
			"UPDATE accounts SET balance = 1000"},
		{"no such account", request{method: "POST", path: "/v1/transfers", body: transferBody(rich, "998", 1)}, 404, "no_such_account",
			"INSERT INTO accounts (id, tenant_id, owner, currency, balance) OVERRIDING SYSTEM VALUE VALUES (998, 'acme', 'x', 'EUR', 0)"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			key, before := newKey(), state(t, s.pool)
			first := c.send(t, test.r.with(key))
			if problem := first.refused(t, test.status, test.code); problem["idempotency_key"] != key {
				t.Errorf("idempotency_key %v", problem["idempotency_key"])
			}
			if state(t, s.pool) != before {
				t.Error("a refusal changed something")
			}
			execute(t, s.pool, test.cure)
			c.send(t, test.r.with(key)).replays(t, first)
			if got := c.send(t, test.r.with(newKey())); got.status/100 != 2 {
				t.Errorf("after the cure: %d %s", got.status, got.body)
			}
		})
	}
}

// Outcomes are kept for as long as the policy says, by the database's clock.
func TestTimesToLive(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	for _, op := range operations(t, c) {
		c.send(t, op.first.with("ok-"+op.name))
	}
	c.post(t, "/v1/payments/999/capture", "fails-fused", "").refused(t, 409, "not_authorized")
	c.post(t, "/v1/transfers", "fails-stepped", transferBody("998", "999", 1)).refused(t, 404, "no_such_account")
	c.post(t, "/v1/payments", "fails-intent", paymentBody("taken-1")).refused(t, 409, "intent-conflict")
	wrong := query[string](t, s.pool, `
		SELECT coalesce(string_agg(key || ' ' || (expires_at - created_at)::text, ', '), '') FROM idem.keys
		WHERE abs(extract(epoch FROM expires_at - created_at
			- CASE WHEN key LIKE 'fails-%' THEN interval '2 hours' ELSE interval '24 hours' END)) > 5`)
	if wrong != "" {
		t.Error(wrong)
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM idem.keys WHERE key LIKE 'ok-%' OR key LIKE 'fails-%'"); n != 13 {
		t.Errorf("%d records", n)
	}
}

// An expired key is a new one; effects that no intent protects happen again.
func TestAnExpiredKeyRunsAgain(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	body := `{"owner": "Ada", "currency": "EUR"}`
	first := c.post(t, "/v1/accounts", "k", body)
	first.must(t, 201)
	expire(t, s.pool)
	again := c.post(t, "/v1/accounts", "k", body)
	again.must(t, 201)
	if again.replayed() || again.body == first.body {
		t.Errorf("replayed %v: %s", again.replayed(), again.body)
	}
	c.post(t, "/v1/accounts", "k", body).replays(t, again)
	if n := query[int](t, s.pool, "SELECT count(*) FROM idem.keys WHERE key = 'k'"); n != 1 {
		t.Errorf("%d records of the key", n)
	}
}

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"example.com/payments/internal/api"
)

// Two tenants send the same key and the same body: each has its own execution,
// and neither can read what the other did.
func TestCase_scope_1(t *testing.T) {
	s := newService(t)
	a, b := s.as(t, "acme"), s.as(t, "other")
	const account, order = `{"owner": "Ada", "currency": "EUR"}`, `{"reference": "R", "items": []}`
	for path, body := range map[string]string{"/v1/accounts": account, "/v1/payments": paymentBody("order-1"), "/v1/orders": order} {
		first, second := a.post(t, path, "k", body), b.post(t, path, "k", body)
		if first.must(t, 201)["id"] == second.must(t, 201)["id"] || second.replayed() {
			t.Errorf("%s: the tenants share %s", path, first.body)
		}
		a.post(t, path, "k", body).replays(t, first)
		b.post(t, path, "k", body).replays(t, second)
	}
	mine := a.post(t, "/v1/payments", "k", paymentBody("order-1")).header.Get("Location")
	b.get(t, mine).refused(t, 404, "no_such_payment")
	b.post(t, mine+"/capture", newKey(), "").refused(t, 409, "not_authorized")
	if list := b.get(t, "/v1/payments"); strings.Count(list.body, `"id"`) != 1 {
		t.Errorf("the other tenant's list: %s", list.body)
	}
	a.customer(t, "ada")
	b.patch(t, "ada", newKey(), `{"name": "Eve"}`).refused(t, 404, "not_found")
	b.delete(t, "ada", newKey()).refused(t, 404, "not_found")
	b.customer(t, "ada")
}

// Somebody who guesses a key and sends it first changes nothing for its owner.
func TestCase_scope_2(t *testing.T) {
	s := newService(t)
	a, b := s.as(t, "acme"), s.as(t, "other")
	for _, op := range operations(t, a) {
		poison := b.send(t, op.other.with("k"))
		if poison.status >= 500 {
			t.Errorf("%s: %d %s", op.name, poison.status, poison.body)
		}
		got := a.send(t, op.first.with("k"))
		if got.status != op.status || got.replayed() {
			t.Errorf("%s: %d, replayed %v: %s", op.name, got.status, got.replayed(), got.body)
		}
	}
}

// Keys belong to the tenant, not to one of its API keys.
func TestTwoAPIKeysOfOneTenant(t *testing.T) {
	s := newService(t)
	first := s.as(t, "acme").post(t, "/v1/payments", "k", paymentBody("order-1"))
	first.must(t, 201)
	s.as(t, "acme").post(t, "/v1/payments", "k", paymentBody("order-1")).replays(t, first)
}

// A service without a caller function refuses to start.
func TestCase_scope_3(t *testing.T) {
	s := newService(t)
	svc, err := api.New(s.pool, api.Options{})
	if err == nil || svc != nil || !strings.Contains(err.Error(), "Options.Caller") {
		t.Errorf("%v, %v", svc, err)
	}
	if _, err := api.New(nil, api.Options{Caller: callerOf}); err == nil {
		t.Error("a service without a pool")
	}
}

// Mounted without the authentication, every operation answers 401.
func TestWithoutAuthentication(t *testing.T) {
	s := newService(t)
	svc, err := api.New(s.pool, api.Options{Caller: callerOf, Go: functions(s.client), Webhooks: webhooks([]string{oldSecret})})
	if err != nil {
		t.Fatal(err)
	}
	router := chi.NewRouter()
	if err := svc.Mount(router); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	defer server.Close()
	nobody := &client{service: &service{pool: s.pool, url: server.URL, http: server.Client()}}
	c := s.as(t, "acme")
	ops := operations(t, c)
	before := state(t, s.pool)
	for _, op := range ops {
		nobody.send(t, op.first.with("k")).refused(t, 401, "unauthenticated")
	}
	nobody.get(t, "/v1/payments").refused(t, 401, "unauthenticated")
	if state(t, s.pool) != before {
		t.Error("something was done")
	}
}

// A scope that is no text to keep keys under is nobody's.
func TestScopesThatAreNone(t *testing.T) {
	s := newService(t)
	for _, tenant := range []string{"", strings.Repeat("x", 256)} {
		svc, err := api.New(s.pool, api.Options{Go: functions(s.client), Webhooks: webhooks([]string{oldSecret}), Caller: func(*http.Request) (api.Caller, error) {
			return api.Caller{TenantID: tenant}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/v1/accounts", strings.NewReader(`{"owner": "Ada", "currency": "EUR"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		svc.Handler(api.CreateAccount).ServeHTTP(w, r)
		answer{w.Code, w.Header(), w.Body.String()}.refused(t, 401, "unauthenticated")
	}
}

package main

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

func (c *client) put(t testing.TB, id, key, body string) answer {
	t.Helper()
	return c.send(t, request{method: "PUT", path: "/v1/customers/" + id, key: key, body: body})
}

func (c *client) patch(t testing.TB, id, key, body string) answer {
	t.Helper()
	return c.send(t, request{method: "PATCH", path: "/v1/customers/" + id, key: key, body: body})
}

func (c *client) delete(t testing.TB, id, key string) answer {
	t.Helper()
	return c.send(t, request{method: "DELETE", path: "/v1/customers/" + id, key: key})
}

// PUT needs no key: 201 creates, 200 replaces. With a key it is recorded all
// the same, and a late retry does not undo what came after it.
func TestPutCustomer(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	made := c.put(t, "ada", "", `{"name": "Ada", "email": "ada@example.com"}`)
	if m := made.must(t, 201); m["version"] != json.Number("1") || m["email"] != "ada@example.com" || m["id"] != "ada" {
		t.Errorf("made: %s", made.body)
	}
	if made.header.Get(replayedHeader) != "" || made.header.Get("Idempotency-Key") != "" || keys(t, s.pool) != 0 {
		t.Error("a request without a key left a record, or says that it did")
	}
	replaced := c.put(t, "ada", "", `{"name": "Ada L."}`)
	if m := replaced.must(t, 200); m["version"] != json.Number("2") || m["email"] != nil {
		t.Errorf("replaced: %s", replaced.body)
	}

	keyed := c.put(t, "grace", "k", `{"name": "Grace"}`)
	keyed.must(t, 201)
	c.put(t, "grace", "", `{"name": "Grace H."}`).must(t, 200)
	c.put(t, "grace", "k", `{"name": "Grace"}`).replays(t, keyed)
	c.put(t, "grace", "k", `{"name": "Grace", "email": null}`).replays(t, keyed) // absent and null are the same here
	if name := query[string](t, s.pool, "SELECT name FROM customers WHERE id = 'grace'"); name != "Grace H." {
		t.Errorf("the retry undid a later change: %s", name)
	}
	c.put(t, "grace", "k", `{"name": "Grace H."}`).refused(t, 422, "key-reused")
	c.put(t, "other", "k", `{"name": "Grace"}`).refused(t, 422, "key-reused")
}

// An absent member keeps the address, null removes it: has() tells them apart,
// also in the fingerprint.
func TestPatchCustomer(t *testing.T) {
	c := newService(t).as(t, "acme")
	c.customer(t, "ada")
	email := func(key, body string, want any) {
		t.Helper()
		if m := c.patch(t, "ada", key, body).must(t, 200); m["email"] != want {
			t.Errorf("%s: email %v, want %v", body, m["email"], want)
		}
	}
	email("absent", `{"name": "Ada L."}`, "ada@example.com")
	email("empty", `{}`, "ada@example.com")
	email("new", `{"email": "ada@example.org"}`, "ada@example.org")
	email("null", `{"email": null}`, nil)
	email("null-again", `{"name": null}`, nil)
	if m := c.patch(t, "ada", "last", `{"email": "ada@example.net"}`).must(t, 200); m["name"] != "Ada L." || m["version"] != json.Number("7") {
		t.Errorf("%v", m)
	}

	c.patch(t, "ada", "absent", `{"name": "Ada L.", "email": null}`).refused(t, 422, "key-reused")
	c.patch(t, "ada", "empty", `{"email": null}`).refused(t, 422, "key-reused")
	c.patch(t, "ada", "null", `{}`).refused(t, 422, "key-reused")
	if got := c.patch(t, "ada", "null", `{"email": null}`); !got.replayed() {
		t.Errorf("%d %s is no replay", got.status, got.body)
	}
	c.patch(t, "ada", "", `{"name": "x"}`).refused(t, 400, "key-missing")
	// The CHECK of a column that the statement sets by an expression.
	c.patch(t, "ada", newKey(), `{"email": "nowhere"}`).refused(t, 422, "customers_email_check")
	c.patch(t, "ada", newKey(), `{"name": ""}`).refused(t, 422, "customers_name_check")
}

func TestDeleteCustomer(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	c.customer(t, "ada")
	c.customer(t, "grace")
	if got := c.delete(t, "ada", ""); got.status != 204 || got.body != "" {
		t.Errorf("%d %q", got.status, got.body)
	}
	c.delete(t, "ada", "").refused(t, 404, "not_found")

	keyed := c.delete(t, "grace", "k")
	if keyed.status != 204 {
		t.Fatalf("%d %s", keyed.status, keyed.body)
	}
	c.delete(t, "grace", "k").replays(t, keyed)
	c.delete(t, "grace", "k2").refused(t, 404, "not_found")
	c.customer(t, "grace")
	c.delete(t, "grace", "k").replays(t, keyed)
	if n := query[int](t, s.pool, "SELECT count(*) FROM customers"); n != 1 {
		t.Error("a retry of DELETE took the customer that came later")
	}
}

// An id in a path is what the client meant, however it was escaped: the same
// for HTTP and for a call from Go, and for every spelling of one path.
func TestPathParametersAreDecoded(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	for escaped, id := range map[string]string{
		"plain": "plain", "a%20b": "a b", "a%2Fb": "a/b", "100%25": "100%", "a%252Fb": "a%2Fb", "%C3%A9": "é", "%C3%A9%21": "é!",
		"%C3%A9!": "é!", "a+b": "a+b", "(x)": "(x)", "a%3Fb%23c": "a?b#c", "%C3%BC%2F%C3%B6": "ü/ö", "%70lus": "plus", "a;b=c,d": "a;b=c,d",
	} {
		t.Run(escaped, func(t *testing.T) {
			if m := c.put(t, escaped, "", `{"name": "x"}`).must(t, 201); m["id"] != id {
				t.Errorf("taken for %q, not %q", m["id"], id)
			}
			_, meta, err := s.api.DeleteCustomer(t.Context(), c.caller(), "", api.DeleteCustomerInput{ID: id})
			if err != nil || meta.Status != 204 {
				t.Errorf("%d %v from Go", meta.Status, err)
			}
		})
	}
	t.Run("two spellings are one request", func(t *testing.T) {
		first := c.put(t, "%61da", "k", `{"name": "Ada"}`)
		first.must(t, 201)
		c.put(t, "ada", "k", `{"name": "Ada"}`).replays(t, first)
	})
}

func TestCustomerCallsFromGo(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	ctx, caller := t.Context(), c.caller()
	put := api.PutCustomerInput{ID: "ada", Name: "Ada", Email: pgtype.Text{String: "ada@example.com", Valid: true}}
	made, meta, err := s.api.PutCustomer(ctx, caller, "k", put)
	if err != nil || meta.Status != 201 || meta.Replayed || made.ID != "ada" || made.Version != 1 || !made.UpdatedAt.Valid {
		t.Fatalf("%+v %+v %v", made, meta, err)
	}
	again := c.put(t, "ada", "k", `{"email": "ada@example.com", "name": "Ada"}`)
	if m := again.must(t, 201); !again.replayed() || m["email"] != "ada@example.com" {
		t.Errorf("%s", again.body)
	}
	// Three states of an optional member.
	kept, _, err := s.api.PatchCustomer(ctx, caller, "p1", api.PatchCustomerInput{ID: "ada"})
	if err != nil || kept.Email != put.Email {
		t.Errorf("%+v %v", kept, err)
	}
	c.patch(t, "ada", "p1", `{}`).must(t, 200)
	gone, _, err := s.api.PatchCustomer(ctx, caller, "p2", api.PatchCustomerInput{ID: "ada", Email: noEmail})
	if err != nil || gone.Email.Valid {
		t.Errorf("%+v %v", gone, err)
	}
	if got := c.patch(t, "ada", "p2", `{"email": null}`); !got.replayed() {
		t.Errorf("%d %s", got.status, got.body)
	}
	c.patch(t, "ada", "p2", `{}`).refused(t, 422, "key-reused")
}

// noEmail asks for the address to be removed.
var noEmail = idem.Some(pgtype.Text{})

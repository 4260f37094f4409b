package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

// A caller whose rights have ended gets no replay: the emitted option has the
// typed caller, and its answer is the service's own.
func TestCase_scope_4(t *testing.T) {
	s := newService(t)
	revoked := api.Caller{}
	svc, err := api.New(s.pool, api.Options{
		Go: functions(s.client), Webhooks: webhooks([]string{oldSecret}),
		Caller: func(*http.Request) (api.Caller, error) { return api.Caller{}, errors.New("only from Go") },
		AuthorizeReplay: func(_ context.Context, operation idem.Name, caller api.Caller) error {
			if caller == revoked && operation == api.CreateAccount {
				return idem.Fail(http.StatusForbidden, "role_revoked", "your role was revoked")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	caller, in := api.Caller{TenantID: "acme"}, api.CreateAccountInput{Owner: "Ada", Currency: "EUR"}
	first, _, err := svc.CreateAccount(t.Context(), caller, "k", in)
	if err != nil {
		t.Fatal(err)
	}
	revoked = caller
	if _, _, err := svc.CreateAccount(t.Context(), caller, "k", in); idem.CodeOf(err) != "role_revoked" {
		t.Errorf("a replay: %v", err)
	}
	if _, _, err := svc.CreateAccount(t.Context(), caller, "new", in); err != nil {
		t.Errorf("a first request: %v", err)
	}
	revoked = api.Caller{}
	again, meta, err := svc.CreateAccount(t.Context(), caller, "k", in)
	if err != nil || !meta.Replayed || again.ID != first.ID {
		t.Errorf("afterwards: %+v %+v %v", again, meta, err)
	}
}

func TestExposedHeaders(t *testing.T) {
	want := []string{"Idempotency-Key", "Idempotent-Replayed", "Location", "Retry-After", "X-Should-Retry"}
	if got := newService(t).api.ExposedHeaders(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Error bodies of the service's own, from the one statement that records them.
func TestOwnErrorBodies(t *testing.T) {
	s := newService(t)
	calls := 0
	svc, err := api.New(s.pool, api.Options{
		Go: functions(s.client), Webhooks: webhooks([]string{oldSecret}),
		Caller: func(*http.Request) (api.Caller, error) { return api.Caller{TenantID: "acme"}, nil },
		Problem: func(e *idem.Error) (string, []byte) {
			calls++
			return "application/vnd.acme+json", fmt.Appendf(nil, `{"error": %q, "n": %d}`, e.Code, calls)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := api.CapturePaymentInput{ID: 4711}
	_, meta, err := svc.CapturePayment(t.Context(), api.Caller{TenantID: "acme"}, "k", in)
	var first *idem.Error
	if !errors.As(err, &first) || meta.Header.Get("Content-Type") != "application/vnd.acme+json" {
		t.Fatalf("%v %+v", err, meta)
	}
	atFirst := calls
	_, meta, err = svc.CapturePayment(t.Context(), api.Caller{TenantID: "acme"}, "k", in)
	if idem.CodeOf(err) != first.Code || !meta.Replayed || meta.Status != first.Status || calls != atFirst {
		t.Errorf("%v %+v, %d calls", err, meta, calls-atFirst)
	}
}

// Problems for agents.
func TestMarkdownProblems(t *testing.T) {
	c := newService(t).as(t, "acme")
	got := c.send(t, request{method: "GET", path: "/v1/payments/4711", header: http.Header{"Accept": {"text/markdown, */*"}}})
	if got.status != http.StatusNotFound || got.header.Get("Content-Type") != "text/markdown; charset=utf-8" || got.header.Get("Vary") != "Accept" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
}

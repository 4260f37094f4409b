package idem

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// An event belongs to a scope and an operation.
func TestAsyncStatusIsOfTheScope(t *testing.T) {
	t.Parallel()
	s := newStation(t, payout())
	event := eventOfAnswer(t, s.post("Payout", "k", order1))
	for _, c := range []struct {
		event  string
		tenant string
	}{{event, "t2"}, {"00000000-0000-4000-8000-000000000000", "t1"}, {"nonsense", "t1"}} {
		w, _ := s.statusFor(t, c.event, "X-Tenant", c.tenant)
		wantCode(t, w, 404, "event-unknown")
	}
	w, _ := s.statusFor(t, event, "X-Tenant", "nobody")
	wantStatus(t, w, 401)
	w = s.call("Payout", "POST", "status/"+event, "")
	wantStatus(t, w, 405)
	s.wantState(t, strings.ToLower(event), AsyncQueued)
	if w, _ := s.statusFor(t, strings.ToUpper(event)); w.Code != 200 {
		t.Errorf("upper case: %d", w.Code)
	}
	other := s.post("Payout", "k", order1, "X-Tenant", "t2")
	wantStatus(t, other, 202)
	if eventOfAnswer(t, other) == event {
		t.Error("two scopes share an event")
	}
}

// The status of a record is asked about like its replay.
func TestAsyncStatusIsAuthorized(t *testing.T) {
	t.Parallel()
	s := openStation(t, idemtest.Pool(t, shopTables), &till{}, func(o *Options) {
		o.AuthorizeReplay = func(context.Context, Name, []any) error { return errors.New("no") }
	}, payout())
	event := eventOfAnswer(t, s.post("Payout", "k", order1))
	s.wantState(t, event, AsyncQueued)
	if err := s.completeOnce(t); err != nil {
		t.Fatal(err)
	}
	w, _ := s.statusFor(t, event)
	wantCode(t, w, 403, "forbidden")
	wantCode(t, s.post("Payout", "k", order1), 403, "forbidden")
}

// The gateway tells its clients how it stands.
func TestAsyncGateway(t *testing.T) {
	t.Parallel()
	config := shopConfig(payout())
	config.Profile = ProfileGateway
	s := newStation(t)
	opts := s.till.options()
	service, err := New(s.pool, config, shopCaller, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
	s.mux.Handle("/Gateway/{id}", service.Handler("Payout"))
	want := func(state string) {
		t.Helper()
		w := s.call("Gateway", "POST", "1", order1, gatewayKeyHeader, "key")
		if got := w.Header().Get(gatewayStatus); w.Code != 202 || got != state || !strings.Contains(w.Body.String(), "event_id") {
			t.Errorf("%d %s %s, want %s", w.Code, got, w.Body, state)
		}
	}
	want("new")
	want("processing")
	if err := s.completeOnce(t); err != nil {
		t.Fatal(err)
	}
	want("duplicate")
}

// The path of an event is that of the request.
func TestAsyncLocation(t *testing.T) {
	t.Parallel()
	op := payout()
	op.Path = "/v1/accounts/{id:[a-z ]{1,9}}/payouts"
	op.Fields = append([]Field{{From: FromPath, Name: "id", Kind: KindText, Required: true}}, paymentFields...)
	op.Steps[0].Args = fieldArgs(4, 1, 2, 3)
	op.Steps[1].Args[0] = Arg{From: ArgField, Field: 2}
	op.Steps[2].Args = fieldArgs(2)
	s := newStation(t, op)
	w := s.call("Payout", "POST", "a%20b", order1, keyHeader, "k")
	wantStatus(t, w, 202)
	if got, want := w.Header().Get("Location"), "/v1/accounts/a%20b/payouts/"+eventOfAnswer(t, w); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
	"example.com/payments/internal/gateway"
)

func rideBody(rider, card string) string {
	return fmt.Sprintf(`{"rider": %q, "fare": 1850, "currency": "EUR", "card": %q}`, rider, card)
}

// A ride and its charge, and a repetition: one charge.
func TestChargeRide(t *testing.T) {
	c := newService(t).as(t, "acme")
	first := c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa"))
	m := first.must(t, 201)
	if m["status"] != "charged" || m["charge_id"] != "ch_1" || first.replayed() {
		t.Error(first.body)
	}
	for range 3 {
		c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa")).replays(t, first)
	}
	c.post(t, "/v1/rides", "k1", rideBody("r-2", "tok_visa")).refused(t, 422, "key-reused")
	want := gateway.Charge{Amount: 1850, Currency: "EUR", Card: "tok_visa", Reference: "ride-1"}
	if got := c.cards.Charges(); len(got) != 1 || got[0] != want {
		t.Errorf("charged %+v", got)
	}
	nothingUnfinished(t, c.service)
}

// nothingUnfinished checks that no operation has left work behind.
func nothingUnfinished(t *testing.T, s *service) {
	t.Helper()
	if n := query[int](t, s.pool, "SELECT count(*) FROM idem.keys WHERE status = 0"); n != 0 {
		t.Errorf("%d keys are unfinished", n)
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM idem.work WHERE NOT async"); n != 0 {
		t.Errorf("%d rows of work are left", n)
	}
}

// Declined: the answer is recorded, and the ride stays on file, since it was
// committed before the call.
func TestADeclinedCardIsRecorded(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	first := c.post(t, "/v1/rides", "k1", rideBody("r-1", gateway.DeclinedCard))
	first.refused(t, 402, "card_declined")
	c.post(t, "/v1/rides", "k1", rideBody("r-1", gateway.DeclinedCard)).replays(t, first)
	if status := query[string](t, s.pool, "SELECT status FROM rides"); status != "requested" {
		t.Errorf("the ride is %s", status)
	}
	_, _, err := s.api.ChargeRide(t.Context(), c.caller(), "k1", api.ChargeRideInput{Card: gateway.DeclinedCard, Currency: "EUR", Fare: 1850, Rider: "r-1"})
	var refusal *idem.Error
	if !errors.As(err, &refusal) || refusal.Code != api.CodeCardDeclined {
		t.Errorf("from Go: %v", err)
	}
	nothingUnfinished(t, s)
}

// 32 copies at two services with one gateway: one charge, one ride.
func TestCopiesOfARideAreChargedOnce(t *testing.T) {
	services := twoServices(t)
	services[1].client.URL = services[0].client.URL
	c := services[0].as(t, "acme")
	answers := together(32, func(i int) answer {
		return c.via(services[i%2]).post(t, "/v1/rides", fmt.Sprint("k", i/16), rideBody("r-1", "tok_visa"))
	})
	for i, got := range answers {
		got.sameAs(t, answers[i/16*16])
		got.must(t, 201)
	}
	if got := c.cards.Charges(); len(got) != 2 {
		t.Errorf("%d charges of 2 rides", len(got))
	}
	nothingUnfinished(t, services[0])
}

// The gateway charges and its answer is lost: nobody knows. The request is
// answered with 503, and the retry ends in the recorded response.
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	var lost atomic.Bool
	s.cards.Stop = func(stage gateway.Stage, _ *http.Request) bool {
		return stage == gateway.Received || lost.Swap(true)
	}
	refused := c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa"))
	if refused.status != 503 || refused.header.Get("Retry-After") == "" || refused.header.Get("X-Should-Retry") != "true" {
		t.Fatalf("%d %v %s", refused.status, refused.header, refused.body)
	}
	due(t, s)
	first := c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa"))
	first.must(t, 201)
	c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa")).replays(t, first)
	if got := s.cards.Charges(); len(got) != 1 {
		t.Errorf("%d charges", len(got))
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM rides"); n != 1 {
		t.Errorf("%d rides", n)
	}
	nothingUnfinished(t, s)
}

// due lets all unfinished work be continued now: leases have ended, and so has
// the time between tries.
func due(t testing.TB, s *service) {
	t.Helper()
	execute(t, s.pool, `UPDATE idem.work SET lease_until = clock_timestamp() - interval '1 second',
		due_at = clock_timestamp() - interval '1 second'`)
}

// cancelWhileCharged cancels all rides once, while a card is charged.
func cancelWhileCharged(t *testing.T, s *service) {
	t.Helper()
	var once sync.Once
	s.cards.Stop = func(stage gateway.Stage, _ *http.Request) bool {
		if stage == gateway.Done {
			once.Do(func() { execute(t, s.pool, "UPDATE rides SET status = 'cancelled'") })
		}
		return true
	}
}

// Cancelled while the card is charged: the charge is given back, and the refusal
// is recorded.
func TestACancelledRideIsGivenBack(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	cancelWhileCharged(t, s)
	first := c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa"))
	first.refused(t, 409, "ride_cancelled")
	c.post(t, "/v1/rides", "k1", rideBody("r-1", "tok_visa")).replays(t, first)
	if charges, refunds := len(s.cards.Charges()), s.cards.Refunds(); charges != 1 || refunds != 1 {
		t.Errorf("%d charges, %d refunds", charges, refunds)
	}
	nothingUnfinished(t, s)
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

func payoutBody(account string, amount int) string {
	return fmt.Sprintf(`{"account": %s, "amount": %d}`, account, amount)
}

// running runs the service's background work until the test ends.
func (s *service) running(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.api.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// settled asks for the status until the work has ended.
func (c *client) settled(t *testing.T, path string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		m := c.get(t, path).must(t, 200)
		if m["status"] == "done" || m["status"] == "failed" {
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %v", m["status"])
		}
	}
}

// Accepted at once, done in the background; the status ends in the recorded
// response, and a repetition has the same event id before and after.
func TestPayoutInTheBackground(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	account := c.account(t, 1000)
	first := c.post(t, "/v1/payouts", "k1", payoutBody(account, 300))
	event, _ := first.must(t, 202)["event_id"].(string)
	path := "/v1/payouts/" + event
	if first.header.Get("Location") != path || first.replayed() {
		t.Errorf("%v", first.header)
	}
	if m := c.get(t, path).must(t, 200); m["status"] != "queued" || m["response"] != nil {
		t.Errorf("before the work: %v", m)
	}
	if c.balance(t, account) != 1000 {
		t.Error("paid out before the work")
	}
	c.post(t, "/v1/payouts", "k1", payoutBody(account, 300)).replays(t, first)
	c.post(t, "/v1/payouts", "k1", payoutBody(account, 301)).refused(t, 422, "key-reused")

	s.running(t)
	m := c.settled(t, path)
	response, _ := m["response"].(map[string]any)
	body, _ := response["body"].(map[string]any)
	if m["status"] != "done" || response["status"] != json.Number("201") || body["amount"] != json.Number("300") || m["event_id"] != event {
		t.Errorf("%v", m)
	}
	c.post(t, "/v1/payouts", "k1", payoutBody(account, 300)).replays(t, first)
	if got := c.balance(t, account); got != 700 {
		t.Errorf("balance %d", got)
	}
	s.as(t, "other").get(t, path).refused(t, 404, "event-unknown")
	c.get(t, "/v1/payouts/00000000-0000-4000-8000-000000000000").refused(t, 404, "event-unknown")
	c.get(t, "/v1/payouts/1").refused(t, 404, "event-unknown")
}

// A refusal is the outcome, not an answer to the request.
func TestARefusedPayoutHasFailed(t *testing.T) {
	s := newService(t)
	s.running(t)
	c := s.as(t, "acme")
	account := c.account(t, 10)
	event := c.post(t, "/v1/payouts", "k1", payoutBody(account, 300)).must(t, 202)["event_id"]
	m := c.settled(t, fmt.Sprint("/v1/payouts/", event))
	response, _ := m["response"].(map[string]any)
	body, _ := response["body"].(map[string]any)
	if m["status"] != "failed" || response["status"] != json.Number("402") || body["code"] != "insufficient_funds" {
		t.Errorf("%v", m)
	}
	if got := c.balance(t, account); got != 10 {
		t.Errorf("balance %d", got)
	}
	c.post(t, "/v1/payouts", "k2", `{"account": 1}`).refused(t, 422, "input-invalid") // seen before it is written down
}

// From Go: the same event, and the typed output.
func TestPayoutFromGo(t *testing.T) {
	s := newService(t)
	s.running(t)
	c := s.as(t, "acme")
	account := c.account(t, 1000)
	event := fmt.Sprint(c.post(t, "/v1/payouts", "k1", payoutBody(account, 300)).must(t, 202)["event_id"])
	in := api.CreatePayoutInput{Account: number(t, account), Amount: 300}
	accepted, meta, err := s.api.CreatePayout(t.Context(), c.caller(), "k1", in)
	if err != nil || accepted.EventID != event || !meta.Replayed {
		t.Fatalf("%+v %+v %v", accepted, meta, err)
	}
	c.settled(t, "/v1/payouts/"+event)
	out, status, err := s.api.CreatePayoutStatus(t.Context(), c.caller(), event)
	if err != nil || status.Status != idem.AsyncDone || out.Amount != 300 || out.AccountID != in.Account {
		t.Errorf("%+v %+v %v", out, status, err)
	}
	if _, _, err := s.api.CreatePayoutStatus(t.Context(), api.Caller{TenantID: "other"}, event); idem.CodeOf(err) != "event-unknown" {
		t.Errorf("of another tenant: %v", err)
	}
}

// 64 copies at two services: one event, one effect.
func TestCopiesOfAPayoutAreOne(t *testing.T) {
	services := twoServices(t)
	services[1].running(t)
	c := services[0].as(t, "acme")
	account := c.account(t, 1000)
	answers := together(64, func(i int) answer {
		return c.via(services[i%2]).post(t, "/v1/payouts", fmt.Sprint("k", i/32), payoutBody(account, 100))
	})
	for i, got := range answers {
		got.must(t, 202)
		got.sameAs(t, answers[i/32*32])
	}
	for i := range 2 {
		c.settled(t, answers[i*32].header.Get("Location"))
	}
	if got := c.balance(t, account); got != 800 {
		t.Errorf("balance %d", got)
	}
	if n := query[int](t, c.pool, "SELECT count(*) FROM payouts"); n != 2 {
		t.Errorf("%d payouts", n)
	}
}

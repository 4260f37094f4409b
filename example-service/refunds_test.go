package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

func refundBody(amount int) string { return fmt.Sprintf(`{"amount": %d}`, amount) }

// A refund in parts, until nothing is left.
func TestRefundInParts(t *testing.T) {
	c := newService(t).as(t, "acme")
	id := c.captured(t, "order-1")
	path := "/v1/payments/" + id + "/refunds"
	first := c.post(t, path, "k1", `{"amount": 500, "reason": "damaged"}`)
	m := first.must(t, 201)
	payment, _ := m["payment"].(map[string]any)
	if fmt.Sprintf("%v %v %v", m["left"], payment["refunded"], payment["status"]) != "750 500 captured" || !strings.HasPrefix(first.body, `{"refund_id":1,"left":750,"payment":{"id":`) {
		t.Error(first.body)
	}
	c.post(t, path, "k1", `{"reason": "damaged", "amount": 500}`).replays(t, first)
	tooMuch := c.post(t, path, "k2", refundBody(751))
	if problem := tooMuch.refused(t, 422, "more_than_left"); problem["detail"] != "750 is left of the payment." || problem["title"] != "the refund is more than what is left of the payment" {
		t.Error(tooMuch.body)
	}
	rest := c.post(t, path, "k3", refundBody(750))
	payment, _ = rest.must(t, 201)["payment"].(map[string]any)
	if payment["status"] != "refunded" {
		t.Error(rest.body)
	}
	c.post(t, path, "k4", refundBody(1)).refused(t, 409, "already_refunded")
	c.post(t, path, "k2", refundBody(751)).replays(t, tooMuch) // what it was told stays
	if n := query[int](t, c.pool, "SELECT count(*) FROM refunds WHERE reason = 'damaged' OR reason IS NULL"); n != 2 {
		t.Errorf("%d refunds", n)
	}
}

func TestRefundRefusals(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	id := c.payment(t, "order-1")
	path := "/v1/payments/" + id + "/refunds"
	c.post(t, path, "k1", refundBody(1)).refused(t, 409, "not_captured")
	c.post(t, "/v1/payments/999/refunds", "k2", refundBody(1)).refused(t, 404, "no_such_payment")
	s.as(t, "other").post(t, path, "k3", refundBody(1)).refused(t, 404, "no_such_payment")
	for body, pointer := range map[string]string{
		`{}`:              "/amount",
		`{"amount": 0}`:   "/amount",
		`{"amount": "x"}`: "/amount",
		`{"amount": 1, "reason": "` + strings.Repeat("x", 201) + `"}`: "/reason",
	} {
		if got := c.post(t, path, newKey(), body); got.status != 422 || !strings.Contains(got.body, `"pointer":"`+pointer+`"`) {
			t.Errorf("%.40s: %d %s", body, got.status, got.body)
		}
	}
	if got := c.post(t, path, newKey(), `{"amount": 1, "note": "?"}`); got.status != 400 {
		t.Errorf("an unknown member: %d %s", got.status, got.body)
	}
	_, _, err := s.api.RefundPayment(t.Context(), api.Caller{TenantID: "acme"}, "k1", api.RefundPaymentInput{ID: number(t, id), Amount: 1})
	var refusal *idem.Error
	if !errors.As(err, &refusal) || refusal.Code != api.CodeNotCaptured {
		t.Errorf("from Go: %v", err)
	}
}

// 64 refunds at once, with a key each, at two services on one database: together
// they are never more than the payment, and each key has one outcome, which it
// keeps.
func TestConcurrentRefundsNeverExceedThePayment(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	id := c.captured(t, "order-1") // of 1250
	path := "/v1/payments/" + id + "/refunds"
	send := func(i int) answer {
		return c.via(services[i%2]).send(t, request{method: "POST", path: path, key: fmt.Sprint("k", i), body: refundBody(100)})
	}
	answers := together(64, send)
	done := 0
	for i, got := range answers {
		switch got.status {
		case 201:
			done++
		case 422:
			got.refused(t, 422, "more_than_left")
		default:
			t.Errorf("refund %d: %d %s", i, got.status, got.body)
		}
	}
	if done != 12 {
		t.Errorf("%d refunds of 100 were made of 1250", done)
	}
	if sum := query[int](t, c.pool, "SELECT sum(amount) FROM refunds"); sum != 1200 {
		t.Errorf("%d were refunded", sum)
	}
	if kept := query[int](t, c.pool, "SELECT refunded FROM payments"); kept != 1200 {
		t.Errorf("the payment says %d", kept)
	}
	for i, again := range together(64, send) {
		again.replays(t, answers[i])
	}
}

// 64 copies of each of a few refunds: one effect per key.
func TestCopiesOfARefundAreOne(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	path := "/v1/payments/" + c.captured(t, "order-1") + "/refunds"
	answers := together(64, func(i int) answer {
		return c.via(services[i%2]).send(t, request{method: "POST", path: path, key: fmt.Sprint("k", i/16), body: refundBody(400)})
	})
	for i, got := range answers {
		got.sameAs(t, answers[i/16*16])
	}
	if n := query[int](t, c.pool, "SELECT count(*) FROM refunds"); n != 3 { // 3 × 400 of 1250
		t.Errorf("%d refunds", n)
	}
}

package main

import (
	"context"
	"errors"
	"testing"

	payments "example.com/payments/client"
)

// pay records a payment for an order, and gives the one that is there already.
func pay(ctx context.Context, c *payments.Client, order string, amount int64) (int64, error) {
	made, err := c.CreatePayment(ctx, payments.CreatePaymentInput{OrderID: order, Amount: amount, Currency: "EUR"})
	var problem *payments.Problem
	switch {
	case err == nil:
		return made.ID, nil
	case errors.As(err, &problem) && problem.Code == payments.CodeIntentConflict:
		existing, err := payments.Decode[payments.CreatePaymentOutput](problem.Existing)
		return existing.ID, err
	}
	return 0, err
}

// payAs sends a key of the caller's own, made once and kept with the order, so
// that a retry after a crash is the same request.
func payAs(ctx context.Context, c *payments.Client, key, order string, amount int64) (replayed bool, err error) {
	var meta payments.Meta
	_, err = c.CreatePayment(ctx, payments.CreatePaymentInput{OrderID: order, Amount: amount, Currency: "EUR"},
		payments.WithKey(key), payments.WithMeta(&meta))
	return meta.Replayed, err
}

// The examples of docs/client.md do what it says.
func TestPayAsDocumented(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	typed := c.typed(t, c.http.Transport)
	first, err := pay(t.Context(), typed, "order-1", 100)
	if err != nil || first == 0 {
		t.Fatalf("%d %v", first, err)
	}
	if again, err := pay(t.Context(), typed, "order-1", 100); err != nil || again != first {
		t.Errorf("%d, not %d: %v", again, first, err)
	}
	if _, err := pay(t.Context(), typed, "order-2", -1); payments.CodeOf(err) != payments.CodeAmountNotPositive {
		t.Errorf("%v", err)
	}
	for _, want := range []bool{false, true} {
		if replayed, err := payAs(t.Context(), typed, "key-3", "order-3", 100); err != nil || replayed != want {
			t.Errorf("replayed %v, want %v: %v", replayed, want, err)
		}
	}
}

package main

import (
	"context"
	"errors"
	"net/http"
	"testing"

	paymentsclient "example.com/payments/client"
	"example.com/payments/internal/gateway"
)

// background brings about what the document says of calls, and of work that is
// done later: each exchange is held to it.
func background(t *testing.T, c *client) {
	t.Helper()
	c.post(t, "/v1/rides", newKey(), rideBody("documented", "tok_visa")).must(t, http.StatusCreated)
	c.post(t, "/v1/rides", newKey(), rideBody("documented", gateway.DeclinedCard)).refused(t, http.StatusPaymentRequired, "card_declined")
	cancelWhileCharged(t, c.service)
	c.post(t, "/v1/rides", newKey(), rideBody("documented", "tok_visa")).refused(t, http.StatusConflict, "ride_cancelled")
	account, key := c.account(t, 100), newKey()
	first := c.post(t, "/v1/payouts", key, payoutBody(account, 100))
	first.must(t, http.StatusAccepted)
	c.get(t, first.header.Get("Location")).must(t, http.StatusOK)
	c.post(t, "/v1/payouts", key, payoutBody(account, 100)).replays(t, first)
	c.post(t, "/v1/payouts", key, payoutBody(account, 99)).refused(t, http.StatusUnprocessableEntity, "key-reused")
	poor := c.post(t, "/v1/payouts", newKey(), payoutBody(c.account(t, 0), 1))
	c.service.running(t)
	if done := c.settled(t, first.header.Get("Location")); done["status"] != "done" {
		t.Errorf("%v", done)
	}
	if failed := c.settled(t, poor.header.Get("Location")); failed["status"] != "failed" {
		t.Errorf("%v", failed)
	}
	c.get(t, "/v1/payouts/00000000-0000-4000-8000-000000000000").refused(t, http.StatusNotFound, "event-unknown")
}

// The typed client waits for the end of what was accepted: a success as a value, a
// refusal as the problem that it would have been.
func TestTypedClientAwaitsWhatIsDoneLater(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	typed := c.typed(t, c.http.Transport)
	var account int64
	if made, err := typed.CreateAccount(t.Context(), paymentsclient.CreateAccountInput{Owner: "Ada", Currency: "EUR"}); err != nil {
		t.Fatal(err)
	} else {
		account = made.ID
	}
	execute(t, s.pool, "UPDATE accounts SET balance = 300")
	in := paymentsclient.CreatePayoutInput{Account: account, Amount: 300}
	accepted, err := typed.CreatePayout(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	status, err := typed.CreatePayoutStatus(t.Context(), accepted.EventID)
	if err != nil || status.Status != paymentsclient.AsyncQueued || status.CreatedAt.IsZero() {
		t.Errorf("%+v %v", status, err)
	}
	if _, err := status.Result(); !errors.Is(err, paymentsclient.ErrUnfinished) {
		t.Errorf("a result before the work: %v", err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := typed.AwaitCreatePayout(impatient, accepted.EventID); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.running(t)
	done, err := typed.AwaitCreatePayout(t.Context(), accepted.EventID)
	if err != nil || done.Amount != 300 || done.AccountID != account {
		t.Errorf("%+v %v", done, err)
	}
	refused, err := typed.CreatePayout(t.Context(), in) // another key: the account is empty now
	if err != nil {
		t.Fatal(err)
	}
	_, err = typed.AwaitCreatePayout(t.Context(), refused.EventID)
	var problem *paymentsclient.Problem
	if !errors.As(err, &problem) || problem.Status != http.StatusPaymentRequired || problem.Code != paymentsclient.CodeInsufficientFunds || problem.Retryable {
		t.Errorf("%v", err)
	}
	_, err = typed.AwaitCreatePayout(t.Context(), "00000000-0000-4000-8000-000000000000")
	if paymentsclient.CodeOf(err) != paymentsclient.CodeEventUnknown {
		t.Errorf("%v", err)
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	paymentsclient "example.com/payments/client"
)

// typed is the emitted client with somebody's API key, over a transport.
func (c *client) typed(t testing.TB, transport http.RoundTripper) *paymentsclient.Client {
	t.Helper()
	typed, err := paymentsclient.New(c.url, paymentsclient.Options{
		Transport: transport, Header: http.Header{"Authorization": {"Bearer " + c.apiKey}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return typed
}

// losing is a network that carries requests to the service and loses the first
// answers.
type losing struct {
	base http.RoundTripper
	left atomic.Int32
	keys []string // of the requests that arrived
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	l.keys = append(l.keys, r.Header.Get("Idempotency-Key"))
	res, err := l.base.RoundTrip(r)
	if err != nil || l.left.Add(-1) < 0 {
		return res, err
	}
	_, _ = io.Copy(io.Discard, res.Body) // the service has answered
	_ = res.Body.Close()
	return nil, errors.New("connection reset by peer")
}

// A lost answer is asked for again with the same key: the payment is made once,
// and the caller gets what was answered first.
func TestTypedClientSurvivesALostAnswer(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	network := &losing{base: c.http.Transport}
	network.left.Store(1)
	var meta paymentsclient.Meta
	made, err := c.typed(t, network).CreatePayment(t.Context(),
		paymentsclient.CreatePaymentInput{OrderID: "order-1", Amount: 1250, Currency: "EUR"}, paymentsclient.WithMeta(&meta))
	if err != nil {
		t.Fatal(err)
	}
	if made.ID == 0 || made.Amount != 1250 || made.Status != "authorized" || made.Note != nil || made.CreatedAt.IsZero() {
		t.Errorf("%+v", made)
	}
	if !meta.Replayed || meta.Tries != 2 || meta.Status != 201 || meta.Header.Get("Location") != fmt.Sprintf("/v1/payments/%d", made.ID) {
		t.Errorf("%+v", meta)
	}
	if len(network.keys) != 2 || network.keys[0] != network.keys[1] || network.keys[0] == "" {
		t.Errorf("keys %q", network.keys)
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM payments"); n != 1 {
		t.Errorf("%d payments", n)
	}
}

// Without a retry the outcome is unknown, which the error says; the same key
// later gives the answer.
func TestTypedClientTellsAnUnknownOutcome(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	network := &losing{base: c.http.Transport}
	network.left.Store(1)
	typed := c.typed(t, network)
	in := paymentsclient.CreatePaymentInput{OrderID: "order-1", Amount: 1250, Currency: "EUR"}
	_, err := typed.CreatePayment(t.Context(), in, paymentsclient.WithMaxTries(1))
	var lost *paymentsclient.Error
	if !errors.As(err, &lost) || !lost.Unknown || lost.Key == "" {
		t.Fatalf("%v", err)
	}
	var meta paymentsclient.Meta
	if _, err := typed.CreatePayment(t.Context(), in, paymentsclient.WithKey(lost.Key), paymentsclient.WithMeta(&meta)); err != nil || !meta.Replayed {
		t.Errorf("%v %+v", err, meta)
	}
}

// Problems are values: code, the resource that is there, and the fields.
func TestTypedClientGivesProblems(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	typed := c.typed(t, c.http.Transport)
	in := paymentsclient.CreatePaymentInput{OrderID: "order-1", Amount: 1250, Currency: "EUR"}
	made, err := typed.CreatePayment(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = typed.CreatePayment(t.Context(), in) // another key
	var problem *paymentsclient.Problem
	if !errors.As(err, &problem) || problem.Status != 409 || problem.Code != paymentsclient.CodeIntentConflict || problem.Retryable {
		t.Fatalf("%v", err)
	}
	existing, err := paymentsclient.Decode[paymentsclient.CreatePaymentOutput](problem.Existing)
	if err != nil || existing.ID != made.ID {
		t.Errorf("%+v %v", existing, err)
	}

	in.Amount, in.OrderID = 0, "order-2"
	_, err = typed.CreatePayment(t.Context(), in)
	if paymentsclient.CodeOf(err) != paymentsclient.CodeAmountNotPositive || !errors.As(err, &problem) || problem.Fields[0].Pointer != "/amount" {
		t.Errorf("%v", err)
	}
	_, err = typed.RefundPayment(t.Context(), paymentsclient.RefundPaymentInput{ID: made.ID, Amount: 1})
	if paymentsclient.CodeOf(err) != paymentsclient.CodeNotCaptured {
		t.Errorf("%v", err)
	}
}

// Every operation can be called, with what its inputs and outputs are.
func TestTypedClientCallsEveryOperation(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	typed, ctx := c.typed(t, c.http.Transport), t.Context()
	check := func(what string, ok bool, err error) {
		t.Helper()
		if err != nil || !ok {
			t.Fatalf("%s: %v", what, err)
		}
	}
	from, err := typed.CreateAccount(ctx, paymentsclient.CreateAccountInput{Owner: "Ada", Currency: "EUR", Balance: ptr(int64(500))})
	check("CreateAccount", from != nil && from.Balance == 500, err)
	to, err := typed.CreateAccount(ctx, paymentsclient.CreateAccountInput{Owner: "Grace", Currency: "EUR"})
	check("CreateAccount", to != nil && to.Balance == 0, err)
	moved, err := typed.CreateTransfer(ctx, paymentsclient.CreateTransferInput{FromAccount: from.ID, ToAccount: to.ID, Amount: 200})
	check("CreateTransfer", moved != nil && moved.Amount == 200, err)
	read, err := typed.GetAccount(ctx, paymentsclient.GetAccountInput{ID: from.ID})
	check("GetAccount", read != nil && read.Balance == 300, err)

	paid, err := typed.CreatePayment(ctx, paymentsclient.CreatePaymentInput{OrderID: "o", Amount: 1250, Currency: "EUR", Note: ptr("gift")})
	check("CreatePayment", paid != nil && *paid.Note == "gift", err)
	captured, err := typed.CapturePayment(ctx, paymentsclient.CapturePaymentInput{ID: paid.ID})
	check("CapturePayment", captured != nil && captured.CapturedAt != nil, err)
	refund, err := typed.RefundPayment(ctx, paymentsclient.RefundPaymentInput{ID: paid.ID, Amount: 250})
	check("RefundPayment", refund != nil && refund.Left == 1000 && refund.Payment.Refunded == 250, err)
	got, err := typed.GetPayment(ctx, paymentsclient.GetPaymentInput{ID: paid.ID})
	check("GetPayment", got != nil && got.Status == "captured", err)

	order, err := typed.PlaceOrder(ctx, paymentsclient.PlaceOrderInput{
		Reference: "R-1", Items: []paymentsclient.PlaceOrderInputItems{{Sku: "PEN-1", Qty: 2, Price: "3.50"}, {Sku: "INK-1", Qty: 1, Price: "0.10"}},
	})
	check("PlaceOrder", order != nil && order.LineCount == 2 && order.Total == "7.10", err)

	put, err := typed.PutCustomer(ctx, paymentsclient.PutCustomerInput{ID: "a/b ü", Name: "Ada", Email: ptr("ada@example.com")})
	check("PutCustomer", put != nil && put.ID == "a/b ü", err)
	kept, err := typed.PatchCustomer(ctx, paymentsclient.PatchCustomerInput{ID: "a/b ü", Name: ptr("Ada L.")})
	check("PatchCustomer", kept != nil && kept.Email != nil, err)
	emptied, err := typed.PatchCustomer(ctx, paymentsclient.PatchCustomerInput{ID: "a/b ü", Email: paymentsclient.Some[*string](nil)})
	check("PatchCustomer", emptied != nil && emptied.Email == nil, err)
	check("DeleteCustomer", true, typed.DeleteCustomer(ctx, paymentsclient.DeleteCustomerInput{ID: "a/b ü"}))
}

// The iterator follows the pages to their end, and stops where it is told to.
func TestTypedClientFollowsPages(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	execute(t, s.pool, `INSERT INTO payments (tenant_id, order_id, amount, currency)
		SELECT 'acme', 'order-' || n, n, 'EUR' FROM generate_series(1, 25) n ORDER BY n`)
	typed := c.typed(t, c.http.Transport)
	var amounts []int64
	for item, err := range typed.AllPayments(t.Context(), paymentsclient.ListPaymentsInput{Limit: ptr(int32(10))}) {
		if err != nil {
			t.Fatal(err)
		}
		amounts = append(amounts, item.Amount)
	}
	for i, amount := range amounts {
		if amount != int64(i+1) {
			t.Fatalf("%v", amounts)
		}
	}
	if len(amounts) != 25 {
		t.Errorf("%d items", len(amounts))
	}
	for item, err := range typed.AllPayments(t.Context(), paymentsclient.ListPaymentsInput{Limit: ptr(int32(1000))}) {
		if paymentsclient.CodeOf(err) != paymentsclient.CodeInputInvalid || item.ID != 0 {
			t.Errorf("%+v %v", item, err)
		}
	}
	for item, err := range typed.AllPayments(t.Context(), paymentsclient.ListPaymentsInput{}) {
		if err != nil || item.Amount != 1 {
			t.Errorf("%+v %v", item, err)
		}
		break
	}
}

func ptr[T any](v T) *T { return &v }

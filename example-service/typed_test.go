package main

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
)

// checkMeta checks what a call says about its answer.
func checkMeta(t *testing.T, meta idem.Meta, err error, status int, replayed bool) {
	t.Helper()
	if err != nil || meta.Status != status || meta.Replayed != replayed {
		t.Fatalf("%d, replayed %v: %v", meta.Status, meta.Replayed, err)
	}
}

// checkError checks that a call was refused.
func checkError(t *testing.T, err error, status int, code string) {
	t.Helper()
	if e := refusal(err); e.Status != status || e.Code != code {
		t.Fatalf("%v, want %d %s", err, status, code)
	}
}

// refusal is the operation's own error in err; its zero value if there is none.
func refusal(err error) idem.Error {
	var e *idem.Error
	if errors.As(err, &e) {
		return *e
	}
	return idem.Error{}
}

func number(t *testing.T, text any) int64 {
	t.Helper()
	n, err := strconv.ParseInt(fmt.Sprint(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A call from Go replays what HTTP did, and the other way round.
func TestCallsFromGoAndHTTPShareRecords(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	ctx, caller := t.Context(), c.caller()

	t.Run("CreatePayment", func(t *testing.T) {
		in := api.CreatePaymentInput{OrderID: "order-1", Amount: 1250, Currency: "EUR"}
		sent := c.post(t, "/v1/payments", "http", paymentBody("order-1"))
		m := sent.must(t, 201)
		out, meta, err := s.api.CreatePayment(ctx, caller, "http", in)
		checkMeta(t, meta, err, 201, true)
		if out.ID != number(t, m["id"]) || out.OrderID != "order-1" || out.Amount != 1250 || out.Currency != "EUR" ||
			out.Status != db.PaymentStatusAuthorized || out.Note.Valid || out.CreatedAt.Time.UTC().Format("2006-01-02T15:04:05.000000Z") != m["created_at"] {
			t.Errorf("%+v\nfor %s", out, sent.body)
		}
		if meta.Header.Get("Location") != sent.header.Get("Location") {
			t.Errorf("Location %q", meta.Header.Get("Location"))
		}

		in.OrderID, in.Note = "order-2", pgtype.Text{String: "żółw", Valid: true}
		out, meta, err = s.api.CreatePayment(ctx, caller, "go", in)
		checkMeta(t, meta, err, 201, false)
		got := c.post(t, "/v1/payments", "go", `{"note": "żółw", "order_id": "order-2", "amount": 1250, "currency": "EUR"}`)
		if m := got.must(t, 201); !got.replayed() || number(t, m["id"]) != out.ID || m["note"] != "żółw" {
			t.Errorf("%s", got.body)
		}

		in.Amount++
		_, meta, err = s.api.CreatePayment(ctx, caller, "go", in)
		checkError(t, err, 422, "key-reused")
		if meta.Status != 422 {
			t.Errorf("status %d", meta.Status)
		}
		_, _, err = s.api.CreatePayment(ctx, caller, "conflict", in)
		checkError(t, err, 409, "intent-conflict")
		e := refusal(err)
		conflict := c.post(t, "/v1/payments", "conflict", `{"note": "żółw", "order_id": "order-2", "amount": 1251, "currency": "EUR"}`)
		problem := conflict.refused(t, 409, "intent-conflict")
		if !conflict.replayed() || fmt.Sprint(problem["existing"]) != fmt.Sprint(answer{body: string(e.Existing)}.members(t)) {
			t.Errorf("existing %s from Go, %v by HTTP", e.Existing, problem["existing"])
		}
		_, meta, err = s.api.CreatePayment(ctx, caller, "conflict", in)
		checkError(t, err, 409, "intent-conflict")
		if !meta.Replayed {
			t.Error("the refusal is no replay")
		}
		_, _, err = s.api.CreatePayment(ctx, caller, "", in)
		checkError(t, err, 400, "key-missing")
		_, _, err = s.api.CreatePayment(ctx, caller, "a b", in)
		checkError(t, err, 400, "key-invalid")
		in.Amount = 0
		_, _, err = s.api.CreatePayment(ctx, caller, newKey(), in)
		checkError(t, err, 422, "amount_not_positive")
		if e := refusal(err); len(e.Fields) != 1 || e.Fields[0].Pointer != "/amount" {
			t.Errorf("%+v", e.Fields)
		}
		// Another tenant's call is another one.
		in = api.CreatePaymentInput{OrderID: "order-1", Amount: 1250, Currency: "EUR"}
		_, meta, err = s.api.CreatePayment(ctx, api.Caller{TenantID: "other"}, "http", in)
		checkMeta(t, meta, err, 201, false)
		_, _, err = s.api.CreatePayment(ctx, api.Caller{}, "http", in)
		checkError(t, err, 401, "unauthenticated")
	})

	t.Run("CapturePayment", func(t *testing.T) {
		id := c.payment(t, "captured")
		out, meta, err := s.api.CapturePayment(ctx, caller, "k", api.CapturePaymentInput{ID: number(t, id)})
		checkMeta(t, meta, err, 200, false)
		if out.Status != db.PaymentStatusCaptured || !out.CapturedAt.Valid {
			t.Errorf("%+v", out)
		}
		if got := c.post(t, "/v1/payments/"+id+"/capture", "k", ""); got.status != 200 || !got.replayed() {
			t.Errorf("%d %s", got.status, got.body)
		}
		c.post(t, "/v1/payments/"+id+"/capture", "k2", "").refused(t, 409, "not_authorized")
		_, meta, err = s.api.CapturePayment(ctx, caller, "k2", api.CapturePaymentInput{ID: number(t, id)})
		checkError(t, err, 409, "not_authorized")
		if !meta.Replayed {
			t.Error("the refusal is no replay")
		}
		read, meta, err := s.api.GetPayment(ctx, caller, "", api.GetPaymentInput{ID: number(t, id)})
		checkMeta(t, meta, err, 200, false)
		if read.Status != db.PaymentStatusCaptured || read.CapturedAt != out.CapturedAt {
			t.Errorf("%+v, captured %+v", read, out)
		}
		_, _, err = s.api.GetPayment(ctx, caller, "", api.GetPaymentInput{ID: 999})
		checkError(t, err, 404, "no_such_payment")
	})

	t.Run("CreateAccount and CreateTransfer", func(t *testing.T) {
		from, meta, err := s.api.CreateAccount(ctx, caller, "k", api.CreateAccountInput{Owner: "Ada", Currency: "EUR", Balance: idem.Some[int64](100)})
		checkMeta(t, meta, err, 201, false)
		if got := c.post(t, "/v1/accounts", "k", `{"balance": "100", "owner": "Ada", "currency": "EUR"}`); !got.replayed() {
			t.Errorf("%d %s", got.status, got.body)
		}
		// What is not set is absent; the fingerprint is of what was sent.
		c.post(t, "/v1/accounts", "k0", `{"owner": "Ada", "currency": "EUR"}`).must(t, 201)
		to, meta, err := s.api.CreateAccount(ctx, caller, "k0", api.CreateAccountInput{Owner: "Ada", Currency: "EUR"})
		checkMeta(t, meta, err, 201, true)
		_, _, err = s.api.CreateAccount(ctx, caller, "k0", api.CreateAccountInput{Owner: "Ada", Currency: "EUR", Balance: idem.Some[int64](0)})
		checkError(t, err, 422, "key-reused")
		c.post(t, "/v1/accounts", "k0", `{"owner": "Ada", "currency": "EUR", "balance": 0}`).refused(t, 422, "key-reused")

		in := api.CreateTransferInput{FromAccount: from.ID, ToAccount: to.ID, Amount: 60}
		moved, meta, err := s.api.CreateTransfer(ctx, caller, "t", in)
		checkMeta(t, meta, err, 201, false)
		body := transferBody(fmt.Sprint(from.ID), fmt.Sprint(to.ID), 60)
		got := c.post(t, "/v1/transfers", "t", body)
		if m := got.must(t, 201); !got.replayed() || number(t, m["id"]) != moved.ID || number(t, m["amount"]) != moved.Amount {
			t.Errorf("%s", got.body)
		}
		c.post(t, "/v1/transfers", "t2", body).refused(t, 402, "insufficient_funds")
		_, meta, err = s.api.CreateTransfer(ctx, caller, "t2", in)
		checkError(t, err, 402, "insufficient_funds")
		if !meta.Replayed {
			t.Error("the refusal is no replay")
		}
		read, meta, err := s.api.GetAccount(ctx, caller, "", api.GetAccountInput{ID: from.ID})
		checkMeta(t, meta, err, 200, false)
		if read.Balance != 40 {
			t.Errorf("%+v", read)
		}
	})

	t.Run("PlaceOrder", func(t *testing.T) {
		in := api.PlaceOrderInput{Reference: "R-1", Items: []api.PlaceOrderInputItems{
			{Sku: "PEN-1", Qty: 2, Price: pgtype.Numeric{Int: big.NewInt(350), Exp: -2, Valid: true}}}}
		sent := c.post(t, "/v1/orders", "k", orderBody(pen))
		m := sent.must(t, 201)
		out, meta, err := s.api.PlaceOrder(ctx, caller, "k", in)
		checkMeta(t, meta, err, 201, true)
		if out.ID.String() != m["id"] || out.LineCount != 1 || out.Reference != "R-1" {
			t.Errorf("%+v for %s", out, sent.body)
		}
		if total, err := out.Total.Value(); err != nil || total != m["total"] {
			t.Errorf("total %v %v", total, err)
		}
		_, meta, err = s.api.PlaceOrder(ctx, caller, "go", in)
		checkMeta(t, meta, err, 201, false)
		if got := c.post(t, "/v1/orders", "go", orderBody(pen)); !got.replayed() {
			t.Errorf("%d %s", got.status, got.body)
		}
		in.Items = append(in.Items, api.PlaceOrderInputItems{Sku: "A", Qty: 0, Price: in.Items[0].Price})
		_, _, err = s.api.PlaceOrder(ctx, caller, newKey(), in)
		checkError(t, err, 422, "input-invalid")
		if e := refusal(err); len(e.Fields) != 1 || e.Fields[0].Pointer != "/items/1/qty" {
			t.Errorf("%+v", e.Fields)
		}
	})

	t.Run("ListPayments", func(t *testing.T) {
		page, meta, err := s.api.ListPayments(ctx, caller, "", api.ListPaymentsInput{Limit: idem.Some[int32](2)})
		checkMeta(t, meta, err, 200, false)
		if len(page.Items) != 2 || page.Items[0].OrderID != "order-1" || page.Items[1].OrderID != "order-2" {
			t.Errorf("%+v", page)
		}
		next, _, err := s.api.ListPayments(ctx, caller, "", api.ListPaymentsInput{After: idem.Some(page.Items[1].ID)})
		if err != nil || len(next.Items) != 1 || next.Items[0].OrderID != "captured" {
			t.Errorf("%+v %v", next, err)
		}
		_, _, err = s.api.ListPayments(ctx, caller, "", api.ListPaymentsInput{Limit: idem.Some[int32](101)})
		checkError(t, err, 422, "input-invalid")
	})

	t.Run("DeleteCustomer", func(t *testing.T) {
		c.customer(t, "gone")
		_, meta, err := s.api.DeleteCustomer(ctx, caller, "k", api.DeleteCustomerInput{ID: "gone"})
		checkMeta(t, meta, err, 204, false)
		if got := c.delete(t, "gone", "k"); got.status != 204 || !got.replayed() {
			t.Errorf("%d %s", got.status, got.body)
		}
		_, _, err = s.api.DeleteCustomer(ctx, caller, "", api.DeleteCustomerInput{ID: "gone"})
		checkError(t, err, 404, "not_found")
	})
}

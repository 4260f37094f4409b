package api

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func init() { conformanceFixtures = fixtures }

// fixtures makes what the examples of operations need: it is written by hand,
// and idemgen leaves it alone.
func fixtures(_ testing.TB, f *idemtest.Fixture) {
	const account = `{"owner": "Ada", "currency": "EUR", "balance": 10000}`
	switch f.Operation {
	case "RefundPayment":
		order := fmt.Sprintf(`{"order_id": "refunded-%d", "amount": 1250, "currency": "EUR"}`, f.N)
		id := f.Send("POST", "/v1/payments", order)["id"]
		if !f.Refused { // else there is nothing to refund yet
			f.Send("POST", fmt.Sprintf("/v1/payments/%v/capture", id), "")
		}
		f.Set("path.id", id)
	case "CapturePayment", "GetPayment":
		order := fmt.Sprintf(`{"order_id": "order-%d", "amount": 1250, "currency": "EUR"}`, f.N)
		f.Set("path.id", f.Send("POST", "/v1/payments", order)["id"])
	case "GetAccount":
		f.Set("path.id", f.Send("POST", "/v1/accounts", account)["id"])
	case "ChargeRide":
		if f.Refused {
			f.Set("body.card", "tok_declined")
		}
	case "CreatePayout":
		f.Set("body.account", f.Send("POST", "/v1/accounts", account)["id"])
		if f.Refused {
			f.Set("body.amount", 10001) // more than there is
		}
	case "CreateTransfer":
		f.Set("body.from_account", f.Send("POST", "/v1/accounts", account)["id"])
		f.Set("body.to_account", f.Send("POST", "/v1/accounts", account)["id"])
		if f.Refused {
			f.Set("body.amount", 10001) // more than there is
		}
	case "DeleteCustomer", "PatchCustomer":
		id := fmt.Sprintf("customer-%d", f.N)
		if !f.Refused { // else there is no such customer
			f.Send("PUT", "/v1/customers/"+id, `{"name": "Ada", "email": "ada@example.com"}`)
		}
		f.Set("path.id", id)
	case "PlaceOrder":
		if f.Refused { // an order has one line per article
			line := map[string]any{"sku": "PEN-1", "qty": 1, "price": "3.50"}
			f.Set("body.items", []any{line, line})
		}
	}
}

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
	switch f.Operation {
	case "CapturePayment":
		order := fmt.Sprintf(`{"order_id": "to-capture-%d", "amount": 1250, "currency": "EUR"}`, f.N)
		f.Set("path.id", f.Send("POST", "/v1/payments", order)["id"])
	case "CreateTransfer":
		const account = `{"owner": "Ada", "currency": "EUR", "balance": 10000}`
		f.Set("body.from_account", f.Send("POST", "/v1/accounts", account)["id"])
		f.Set("body.to_account", f.Send("POST", "/v1/accounts", account)["id"])
	case "DeleteCustomer", "PatchCustomer":
		id := fmt.Sprintf("customer-%d", f.N)
		f.Send("PUT", "/v1/customers/"+id, `{"name": "Ada", "email": "ada@example.com"}`)
		f.Set("path.id", id)
	}
}

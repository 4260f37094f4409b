// Package steps has the Go functions of the operations.
package steps

import (
	"context"

	"github.com/idemgen/idemgen/bench/internal/api"
	"github.com/idemgen/idemgen/bench/internal/db"
)

// RecordPayment is the step of CreatePaymentInGo: the same INSERT, sent by a Go
// function inside of the transaction.
func RecordPayment(ctx context.Context, q *db.Queries, in api.RecordPaymentInput) (api.RecordPaymentOutput, error) {
	row, err := q.CreatePayment(ctx, db.CreatePaymentParams{TenantID: in.TenantID, OrderID: in.OrderID, Amount: in.Amount})
	return api.RecordPaymentOutput(row), err
}

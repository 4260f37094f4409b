// Package refunds holds the rules of refunds: the Go step of RefundPayment.
package refunds

import (
	"context"
	"fmt"
	"net/http"

	"github.com/idemgen/idemgen/idem"
	"github.com/jackc/pgx/v5/pgtype"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
)

// Refund records a refund, or says why there can be none. The payment's row is
// locked by the step before, so what is left of it can't change meanwhile.
func Refund(ctx context.Context, q *db.Queries, in api.RefundInput) (api.RefundOutput, error) {
	left := in.Captured - in.Refunded
	switch {
	case in.Status == db.PaymentStatusAuthorized:
		return api.RefundOutput{}, idem.Fail(http.StatusConflict, api.CodeNotCaptured, "")
	case left == 0:
		return api.RefundOutput{}, idem.Fail(http.StatusConflict, api.CodeAlreadyRefunded, "")
	case in.Amount > left:
		refusal := idem.Fail(http.StatusUnprocessableEntity, api.CodeMoreThanLeft, "")
		refusal.Detail = fmt.Sprintf("%d is left of the payment.", left)
		return api.RefundOutput{}, refusal
	}
	id, err := q.InsertRefund(ctx, db.InsertRefundParams{
		TenantID: in.TenantID, PaymentID: in.PaymentID, Amount: in.Amount, Reason: nullable(in.Reason),
	})
	if err != nil {
		return api.RefundOutput{}, err
	}
	return api.RefundOutput{RefundID: id, Left: left - in.Amount}, nil
}

// nullable is a text in the type that sqlc has for a nullable column.
func nullable(s *string) pgtype.Text {
	if s == nil {
		return pgtype.Text{}
	}
	return pgtype.Text{String: *s, Valid: true}
}

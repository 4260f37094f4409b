package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/idemgen/idemgen/idem/outbox"

	"example.com/payments/internal/db"
)

// paidOut takes payouts to the gateway, which knows each by the key of its event, and
// notes what has become of them. What could not be noted is delivered again, under the
// same key: the gateway says what it said, and pays nothing more.
type paidOut struct {
	to outbox.Sink
	q  *db.Queries
}

// Deliver implements outbox.Sink.
func (p paidOut) Deliver(ctx context.Context, e outbox.Event) (outbox.Answer, error) {
	var payout struct{ ID int64 }
	if err := json.Unmarshal(e.Payload, &payout); err != nil {
		return outbox.Answer{}, outbox.Permanent(err)
	}
	answer, err := p.to.Deliver(ctx, e)
	switch {
	case err == nil:
		return answer, p.paid(ctx, e.Scope, payout.ID, answer)
	case answer.Status != http.StatusUnprocessableEntity: // it may have been paid: no money goes back
		return answer, err
	}
	_, unmarked := p.q.MarkPayoutRefused(ctx, db.MarkPayoutRefusedParams{TenantID: e.Scope, ID: payout.ID})
	if unmarked != nil {
		return answer, unmarked // tried again
	}
	return answer, err
}

// paid notes what the gateway calls the payout.
func (p paidOut) paid(ctx context.Context, tenant string, id int64, answer outbox.Answer) error {
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(answer.Content), &made); err != nil || made.ID == "" {
		return fmt.Errorf("the gateway's answer names no payout")
	}
	_, err := p.q.MarkPayoutPaid(ctx, db.MarkPayoutPaidParams{GatewayID: made.ID, TenantID: tenant, ID: id})
	return err
}

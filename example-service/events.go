package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/idemgen/idemgen/idem/outbox"

	"example.com/payments/internal/db"
	"example.com/payments/internal/gateway"
)

// newDispatcher delivers the events that operations write to the receiver at
// EVENTS_URL, each as a POST under its own key. Without one they go to the log. Payouts
// go to the gateway.
func newDispatcher(logger *slog.Logger, q *db.Queries, cards *gateway.Client) *outbox.Dispatcher {
	d := &outbox.Dispatcher{Logger: logger, Sinks: map[string]outbox.Sink{
		"*": outbox.Func(func(ctx context.Context, e outbox.Event) error {
			logger.InfoContext(ctx, "event", "topic", e.Topic, "operation", e.Operation)
			return nil
		}),
	}}
	if url := os.Getenv("EVENTS_URL"); url != "" {
		d.Sinks["*"] = &outbox.HTTP{URL: url}
	}
	d.Sinks["payout.created"] = paidOut{&outbox.HTTP{URL: cards.URL + "/payouts", Client: cards.HTTP}, q}
	d.Sinks["invoice.issued"] = processed{d.Sinks["*"], q}
	return d
}

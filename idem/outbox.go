package idem

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Outbox dispatches the events that operations wrote; outbox.Dispatcher is one.
// It is used by many goroutines at once.
type Outbox interface {
	// Wake says that events were committed in the pools. It never blocks.
	Wake(pools ...*pgxpool.Pool)
	// Run dispatches the events of the pools until ctx ends and deliveries in
	// flight are done.
	Run(ctx context.Context, pools ...*pgxpool.Pool) error
}

// wake tells the dispatcher of this process of the events of an answer, in
// memory: a NOTIFY in the transaction would make commits wait for each other. An
// answer that no row was found has none.
func (s *Service) wake(ctx context.Context, inv *invocation, ans *answer) {
	if inv.emitted || inv.op.emits && !ans.isProblem() {
		s.wakeFor(ctx, inv)
	}
}

// wakeFor tells it of a transaction that may have written events.
func (s *Service) wakeFor(ctx context.Context, inv *invocation) {
	if s.outbox == nil || !inv.emitted && !inv.op.emits {
		return
	}
	defer func() { // the events are committed, and so is the answer
		if p := recover(); p != nil {
			s.logger.ErrorContext(ctx, "outbox failed to wake", "operation", inv.op.stored, "error", fmt.Sprint(p))
		}
	}()
	s.outbox.Wake(inv.pool.Pool)
}

// dispatchAll runs the dispatcher, where there is one, until ctx ends.
func (s *Service) dispatchAll(ctx context.Context) error {
	if s.outbox == nil {
		return nil
	}
	pools := make([]*pgxpool.Pool, len(s.pools.all))
	for i, p := range s.pools.all {
		pools[i] = p.Pool
	}
	return s.outbox.Run(ctx, pools...)
}

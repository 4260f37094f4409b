package outbox

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// repairInterval is the time between looks for events that were put off behind
// one which is gone without having been settled.
const repairInterval = 5 * time.Minute

func (r *runner) repairs(stopped <-chan struct{}) {
	for {
		timer := time.NewTimer(repairInterval*3/4 + rand.N(repairInterval/2))
		select {
		case <-stopped:
			timer.Stop()
			return
		case <-timer.C:
			if err := r.repair(); err != nil {
				r.set.logger.ErrorContext(r.base, "events that wait can't be looked through", "error", err)
			}
		}
	}
}

// repair lets events go that wait for nothing.
func (r *runner) repair() error {
	return r.tx(func(ctx context.Context, q *gen.Queries) error {
		n, err := q.FreeEvents(ctx)
		if n > 0 {
			signal(r.woken)
		}
		return err
	})
}

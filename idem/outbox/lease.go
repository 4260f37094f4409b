package outbox

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// renewals keeps the leases of what is held alive, until it is stopped.
func (r *runner) renewals(stopped <-chan struct{}) {
	ticker := time.NewTicker(r.set.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-stopped:
			return
		case <-ticker.C:
			if err := r.renew(); err != nil {
				r.set.logger.ErrorContext(r.base, "leases can't be renewed", "error", err)
			}
			r.expire()
		}
	}
}

// renew renews all leases. Those that could not be are lost: their deliveries are
// cut off.
func (r *runner) renew() error {
	r.writing.Lock()
	defer r.writing.Unlock()
	all, arg := r.leases()
	if len(all) == 0 {
		return nil
	}
	began := time.Now()
	var ids []string
	err := r.tx(func(ctx context.Context, q *gen.Queries) (err error) {
		ids, err = q.RenewLeases(ctx, arg)
		return err
	})
	if err != nil {
		return err
	}
	renewed := make(map[string]bool, len(ids))
	for _, id := range ids {
		renewed[id] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range all {
		if renewed[h.ID] {
			h.until = began.Add(r.set.lease)
		} else {
			h.lose()
		}
	}
	return nil
}

// leases are those that are held, and what renews them.
func (r *runner) leases() ([]*held, gen.RenewLeasesParams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	arg := gen.RenewLeasesParams{Lease: interval(r.set.lease)}
	all := make([]*held, 0, len(r.held))
	for h := range r.held {
		all = append(all, h)
		arg.Scopes = append(arg.Scopes, h.Scope)
		arg.Ids = append(arg.Ids, h.ID)
		arg.Owners = append(arg.Owners, h.owner)
		arg.Attempts = append(arg.Attempts, h.attempt)
	}
	return all, arg
}

// expire cuts off deliveries whose lease has ended, as far as this process knows.
func (r *runner) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for h := range r.held {
		if !now.Before(h.until) {
			h.lose()
		}
	}
}

func (h *held) lose() {
	h.lost = true
	if h.cancel != nil {
		h.cancel(errLeaseLost)
	}
}

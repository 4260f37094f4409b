package outbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// claimsOf is how often the only runner of a dispatcher has tried to claim.
func claimsOf(d *Dispatcher) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, runners := range d.runners {
		r := runners[0]
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.claims
	}
	return 0
}

// Where no worker is free, an event whose next try has come makes no loop of the
// dispatcher: it waits until there is room.
func TestDispatcherWithoutRoomDoesNotSpin(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 3))
	blocked := make(chan struct{})
	entered := make(chan struct{}, 2)
	d := &Dispatcher{Pool: pool, Concurrency: 2, Batch: 2, Interval: time.Hour, Sinks: map[string]Sink{"*": Func(func(_ context.Context, e Event) error {
		if e.Key == "a-1" && e.Try == 1 {
			return errors.New("not now")
		}
		entered <- struct{}{}
		<-blocked
		return nil
	})}}
	stop := start(t, d)
	<-entered
	<-entered
	eventually(t, "the failed event is due", func() bool {
		return ask[bool](t, pool, "SELECT bool_or(failures = 1 AND due_at <= clock_timestamp()) FROM idem.outbox")
	})
	before := claimsOf(d)
	for range 50 { // round trips, in which a loop would go round thousands of times
		ask[int](t, pool, "SELECT 1")
	}
	if n := claimsOf(d) - before; n > 2 {
		t.Errorf("it tried to claim %d times with no worker free", n)
	}
	close(blocked)
	eventually(t, "all are delivered", func() bool { return statuses(t, pool) == "PROCESSED 3" })
	stop()
}

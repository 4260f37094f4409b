package outbox

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// A sink that ends its goroutine has failed; the lane goes on with the others.
func TestSinkThatEndsItsGoroutine(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 40))
	var n atomic.Int32
	d := &Dispatcher{Pool: pool, Concurrency: 2, Sinks: map[string]Sink{"*": Func(func(context.Context, Event) error {
		if n.Add(1) <= 4 {
			runtime.Goexit()
		}
		return nil
	})}}
	stop := start(t, d)
	defer stop()
	for deadline := time.Now().Add(30 * time.Second); ask[int](t, pool, "SELECT count(*)::int FROM idem.outbox WHERE status = 'PROCESSED'") < 40; {
		if time.Now().After(deadline) {
			t.Fatal("the lane has stopped")
		}
	}
	if failed := ask[int](t, pool, "SELECT count(*)::int FROM idem.outbox WHERE failures > 0"); failed != 4 {
		t.Errorf("%d events have failed once", failed)
	}
}

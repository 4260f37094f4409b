package outbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/outbox"
)

// exampleTB lets an example use idemtest, which wants a test.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (e *exampleTB) Helper()                   {}
func (e *exampleTB) Cleanup(f func())          { e.cleanups = append(e.cleanups, f) }
func (e *exampleTB) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }

func (e *exampleTB) done() {
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
}

// An operation tells of a payment. The ledger fails when it has heard of it, and hears
// of it again, by the same key. A service gives its dispatcher to Options.Outbox, and its
// own Run runs it.
func ExampleDispatcher() {
	t := &exampleTB{}
	defer t.done()
	ctx, pool := context.Background(), idemtest.Pool(t)

	var mu sync.Mutex
	seen := map[string]bool{}
	ledger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Idempotency-Key")
		known := seen[key]
		seen[key] = true
		fmt.Println("known:", known)
		if !known { // it has the event, and its answer is lost
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer ledger.Close()

	request := idem.Request{Scope: "acme", Operation: "payments.CreatePayment", Key: "order-7"}
	_, _, err := idem.Do(ctx, pool, request, func(ctx context.Context, _ idem.Tx) (idem.Response, error) {
		return idem.Response{}, idem.Emit(ctx, idem.OutboxEvent{Topic: "payment.created", Payload: map[string]any{"id": 7}})
	})
	if err != nil {
		panic(err)
	}

	ended := make(chan outbox.End, 1)
	dispatcher := &outbox.Dispatcher{
		Pool:  pool,
		Sinks: map[string]outbox.Sink{"payment.*": &outbox.HTTP{URL: ledger.URL}},
		Ended: func(_ context.Context, e outbox.Event, end outbox.End) { ended <- end },
	}
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- dispatcher.Run(running) }()
	end := <-ended
	stop()
	fmt.Println(end.Status, end.Answer.Status, <-stopped)
	// Output:
	// known: false
	// known: true
	// PROCESSED 200 <nil>
}

// A receiver in the same process. Permanent says that another try is of no use.
func ExampleFunc() {
	t := &exampleTB{}
	defer t.done()
	ctx, pool := context.Background(), idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, payload)
		VALUES ('acme', 'shop.Order', 'order.placed', 'key-1', '{"mail": "nobody"}')`)
	dispatcher := &outbox.Dispatcher{
		Pool: pool,
		Sinks: map[string]outbox.Sink{"*": outbox.Func(func(_ context.Context, e outbox.Event) error {
			fmt.Println(e.Topic, string(e.Payload))
			return outbox.Permanent(fmt.Errorf("there is no such address"))
		})},
	}
	if _, err := dispatcher.Dispatch(ctx); err != nil {
		panic(err)
	}
	var status string
	_ = pool.QueryRow(ctx, "SELECT status FROM idem.outbox").Scan(&status)
	fmt.Println(status)
	// Output:
	// order.placed {"mail": "nobody"}
	// DEAD
}

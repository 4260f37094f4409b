package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// Several dispatchers share 2000 events of 20 ordering keys and of none, some of
// which fail at first: each is delivered, and those of a key in order.
func TestDispatchersSideBySideKeepOrder(t *testing.T) {
	pool := idemtest.Pool(t)
	for k := range 20 {
		run(t, pool, events("t"+fmt.Sprint(k%3), fmt.Sprintf("key %d", k), k*1000, 75))
	}
	run(t, pool, events("free", "", 1, 500))
	var mu sync.Mutex
	last, count := map[string]time.Time{}, map[string]int{}
	sink := Func(func(_ context.Context, e Event) error {
		mu.Lock()
		defer mu.Unlock()
		if rand.N(20) == 0 && e.Try == 1 {
			return RetryAfter(0, errors.New("not yet"))
		}
		count[e.Key]++
		if e.Ordered {
			if e.CreatedAt.Before(last[e.OrderKey]) {
				t.Errorf("%s comes behind a later one of %q", e.Key, e.OrderKey)
			}
			last[e.OrderKey] = e.CreatedAt
		}
		return nil
	})
	for range 3 {
		start(t, &Dispatcher{Pool: idemtest.Open(t, pool.Config().ConnString(), nil), Sinks: map[string]Sink{"*": sink}, Batch: 40, Interval: 20 * time.Millisecond})
	}
	eventually(t, "all are processed", func() bool { return statuses(t, pool) == "PROCESSED 2000" })
	mu.Lock()
	defer mu.Unlock()
	if len(count) != 2000 {
		t.Errorf("%d events were delivered", len(count))
	}
	for key, n := range count {
		if n != 1 {
			t.Errorf("%s was delivered %d times", key, n)
		}
	}
}

// A DEAD event blocks those behind it, until it is retried or discarded: then
// they go on at once. Other keys, scopes and topics are not held up.
func TestDeadEventBlocksItsKey(t *testing.T) {
	for _, way := range []string{"retry", "discard"} {
		pool := idemtest.Pool(t, events("a", "k", 1, 5), events("a", "other", 6, 2), events("b", "k", 8, 1))
		healed := false
		sink := &recorder{fail: func(e Event) error {
			if e.Key == "a-2" && !healed {
				return Permanent(errors.New("no"))
			}
			return nil
		}}
		d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"*": sink}}
		if done, err := d.Dispatch(t.Context()); err != nil || done != (Dispatched{Processed: 4, Dead: 1}) {
			t.Fatalf("%+v %v", done, err)
		}
		if waiting := ask[int](t, pool, "SELECT count(*) FROM idem.outbox WHERE due_at = 'infinity' AND status = 'PENDING' AND lease_owner IS NULL"); waiting != 3 {
			t.Errorf("%d wait", waiting)
		}
		healed = true
		id := ask[string](t, pool, "SELECT id::text FROM idem.outbox WHERE status = 'DEAD'")
		act := Retry
		if way == "discard" {
			act = Discard
		}
		if n, err := act(t.Context(), pool, Selection{Scope: "s", ID: id}); err != nil || n != 1 {
			t.Fatalf("%d %v", n, err)
		}
		if _, err := d.Dispatch(t.Context()); err != nil {
			t.Fatal(err)
		}
		var of []string
		for _, key := range sink.seen() {
			if n := strings.TrimPrefix(key, "a-"); n < "6" && n != key {
				of = append(of, n)
			}
		}
		want := map[string]string{"retry": "1 2 2 3 4 5", "discard": "1 2 3 4 5"}[way]
		if got := strings.Join(of, " "); got != want || statuses(t, pool) != "PROCESSED 8" {
			t.Errorf("%s: %s; %s", way, got, statuses(t, pool))
		}
	}
}

// An event that fails is ahead of the others of its key until it is done.
func TestFailedEventHoldsUpItsKey(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "k", 1, 3))
	sink := &recorder{fail: func(e Event) error {
		if e.Key == "a-1" && e.Try == 1 {
			return RetryAfter(time.Hour, errors.New("later"))
		}
		return nil
	}}
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": sink}}
	if done, err := d.Dispatch(t.Context()); err != nil || done != (Dispatched{Failed: 1}) {
		t.Fatalf("%+v %v", done, err)
	}
	run(t, pool, "UPDATE idem.outbox SET due_at = clock_timestamp() WHERE key = 'a-1'")
	if done, err := d.Dispatch(t.Context()); err != nil || done != (Dispatched{Processed: 3}) {
		t.Fatalf("%+v %v", done, err)
	}
	if got := strings.Join(sink.seen(), " "); got != "a-1 a-1 a-2 a-3" {
		t.Error(got)
	}
}

// The event ahead is settled between the claim's look for what is due and its look
// for what is ahead, and just after: those behind it are let go in both cases.
func TestNoEventIsPutOffForEver(t *testing.T) {
	pool := idemtest.Pool(t)
	sink := Func(func(context.Context, Event) error { return nil })
	for range 2 {
		start(t, &Dispatcher{Pool: idemtest.Open(t, pool.Config().ConnString(), nil), Sinks: map[string]Sink{"*": sink}, Batch: 10, Concurrency: 10, Interval: 2 * time.Millisecond})
	}
	for i := range 100 { // one key: each is put off now and then
		run(t, pool, events("a", "k", i*2, 2))
	}
	eventually(t, "all are processed", func() bool { return statuses(t, pool) == "PROCESSED 200" })
}

// Where the event ahead was deleted by hand, those behind it go on after a repair.
func TestRepairLetsGoWhatWaitsForNothing(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "k", 1, 3), "UPDATE idem.outbox SET status = 'DEAD' WHERE key = 'a-1'")
	sink := &recorder{}
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": sink}}
	if done, err := d.Dispatch(t.Context()); err != nil || done != (Dispatched{}) {
		t.Fatalf("%+v %v", done, err)
	}
	run(t, pool, "DELETE FROM idem.outbox WHERE key = 'a-1'")
	if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 2 {
		t.Errorf("%+v %v", done, err)
	}
}

// A claim whose room was taken by events that wait goes on at once: behind them
// are others that are due.
func TestEventsThatWaitTakeNoTurn(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "k", 1, 200), "UPDATE idem.outbox SET status = 'DEAD' WHERE key = 'a-1'", events("a", "", 201, 1))
	sink := &recorder{}
	start(t, &Dispatcher{Pool: pool, Interval: time.Hour, Batch: 10, Concurrency: 5, Sinks: map[string]Sink{"a": sink}})
	eventually(t, "the event behind those that wait is delivered", func() bool { return len(sink.seen()) == 1 })
}

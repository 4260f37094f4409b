package outbox

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// Wake is all it takes: the interval is an hour here.
func TestWakeDispatchesAtOnce(t *testing.T) {
	pool := idemtest.Pool(t)
	got := make(chan string, 1)
	d := &Dispatcher{Pool: pool, Interval: time.Hour, Sinks: map[string]Sink{"*": Func(func(_ context.Context, e Event) error {
		got <- e.Key
		return nil
	})}}
	start(t, d)
	var waits []time.Duration
	for i := range 30 {
		run(t, pool, events("a", "", i, 1))
		began := time.Now()
		for woken := false; !woken; {
			d.Wake(pool) // Run may not have begun
			select {
			case <-got:
				woken = true
			case <-time.After(100 * time.Millisecond):
			}
		}
		waits = append(waits, time.Since(began))
	}
	slices.Sort(waits)
	t.Logf("median from the commit to the sink: %s", waits[len(waits)/2])
}

// statements counts what a pool is asked.
type statements struct{ begun, all atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.all.Add(1)
	if data.SQL == "begin isolation level read committed" {
		s.begun.Add(1)
	}
	return ctx
}
func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// An idle dispatcher makes one transaction per interval, of three statements, and
// reads nothing but the index's beginning, however many events are PROCESSED, or
// PENDING for others.
func TestIdleDispatcherCostsOnePollPerInterval(t *testing.T) {
	url := idemtest.URL(t, events("others", "", 1, 3000), "ANALYZE idem.outbox",
		`INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
			SELECT 's', 'o', 'mine', 'k' || i, '{}', 'PROCESSED', clock_timestamp() FROM generate_series(1, 3000) i`)
	counted := &statements{}
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.ConnConfig.Tracer = counted; c.MaxConns = 1 })
	began := time.Now()
	stop := start(t, &Dispatcher{Pool: pool, Interval: 40 * time.Millisecond, Sinks: map[string]Sink{"mine": &recorder{}}})
	eventually(t, "it has polled ten times", func() bool { return counted.begun.Load() >= 10 })
	stop()
	took := time.Since(began)
	if polls := counted.begun.Load(); polls > int64(took/(30*time.Millisecond))+1 || counted.all.Load() != 3*polls {
		t.Errorf("%d polls with %d statements in %s", polls, counted.all.Load(), took)
	}
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "SELECT FROM idem.claim_events('x', '1 s', '{mine}', '{10}')"); err != nil {
			return err
		}
		var read int64
		err := tx.QueryRow(t.Context(), `SELECT sum(pg_stat_get_xact_tuples_returned(oid)) FROM pg_class
			WHERE relnamespace = 'idem'::regnamespace`).Scan(&read)
		if read > 50 {
			t.Errorf("an idle claim reads %d rows or entries of an index", read)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A process that only writes events tells another one, which looks for them once
// an hour; and who awaits an event there is told of its end.
func TestNotifyAndListen(t *testing.T) {
	pool := idemtest.Pool(t)
	open := func() *pgxpool.Pool { return idemtest.Open(t, pool.Config().ConnString(), nil) }
	writer := &Dispatcher{Pool: open(), Interval: time.Hour, Notify: true, Listen: true}
	start(t, writer)
	sink := &recorder{fail: func(e Event) error {
		if e.Key == "a-2" {
			return Permanent(errors.New("no"))
		}
		return nil
	}}
	start(t, &Dispatcher{Pool: open(), Interval: time.Hour, Notify: true, Listen: true, Sinks: map[string]Sink{"a": sink}})
	eventually(t, "both listen", func() bool {
		return ask[int](t, pool, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN idem_outbox_ended'") == 2
	})
	run(t, pool, events("a", "", 1, 2))
	writer.Wake()
	for key, want := range map[string]End{"a-1": {Status: Processed}, "a-2": {Status: Dead, Reason: "no"}} {
		end, err := writer.Await(t.Context(), nil, "s", key)
		if err != nil || end.Status != want.Status || end.Reason != want.Reason {
			t.Errorf("%s: %+v %v", key, end, err)
		}
	}
	if _, err := writer.Await(t.Context(), nil, "s", "nothing"); !errors.Is(err, ErrNoEvent) {
		t.Error(err)
	}
}

// Who awaits an event in the dispatcher's process needs no notice. Awaiting ends
// with its context.
func TestAwait(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 1), events("b", "", 1, 1))
	goOn := make(chan struct{})
	d := &Dispatcher{Pool: pool, Interval: time.Hour, Sinks: map[string]Sink{"a": Func(func(context.Context, Event) error { <-goOn; return nil })}}
	ended := make(chan error, 1)
	go func() {
		end, err := d.Await(t.Context(), nil, "s", "a-1")
		if end.Status != Processed {
			t.Errorf("%+v", end)
		}
		ended <- err
	}()
	start(t, d)
	eventually(t, "somebody waits", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.waiting) == 1
	})
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := d.Await(short, nil, "s", "b-1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/idemgen/idemgen/bench/internal/db"
	"github.com/idemgen/idemgen/idem/outbox"
)

// outboxRounds is in how many parts the events of a run are written and delivered,
// by the contenders in turn.
const outboxRounds = 5

// messenger writes a message in a transaction, and delivers it to a Go function.
type messenger struct {
	name  string
	write func(ctx context.Context, tx pgx.Tx, n int64) error
	wrote func() // after the commit
	start func(ctx context.Context, delivered func(n int64)) (stop func() error, err error)
}

// delivery is the payload of both.
type delivery struct {
	N int64 `json:"n"`
}

// Kind names the job for River.
func (delivery) Kind() string { return "delivery" }

// outboxGroup compares idemgen's outbox with River.
func outboxGroup(ctx context.Context, b *bench) (*section, error) {
	url, err := b.database(ctx, "outbox")
	if err != nil {
		return nil, err
	}
	text, err := outboxBeside(ctx, url, options{clients: b.sweepClients, outbox: b.outbox})
	if err != nil {
		return nil, err
	}
	return &section{title: "Events", text: text}, nil
}

// outboxBeside writes and delivers o.outbox messages with each messenger, in
// interleaved rounds.
func outboxBeside(ctx context.Context, url string, o options) (string, error) {
	pool, err := openPool(ctx, url, o.clients+8)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	all := []messenger{riverMessenger(pool), idemgenMessenger(pool)}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return "", err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return "", err
	}
	rates := make([][]float64, len(all))
	for round := range outboxRounds + 1 {
		for i := range all {
			at, n := (i+round)%len(all), o.outbox/outboxRounds
			if round == 0 {
				n = min(n, 1000)
			}
			rate, err := carry(ctx, pool, all[at], n, o.clients)
			if err != nil {
				return "", fmt.Errorf("%s: %w", all[at].name, err)
			}
			if round > 0 { // the first warms up
				rates[at] = append(rates[at], rate)
			}
		}
	}
	var t strings.Builder
	fmt.Fprintf(&t, "%d clients, local: a payment and its message in one transaction, and the delivery to a Go function.\n\n", o.clients)
	fmt.Fprintf(&t, "| %d messages written and delivered | messages/s | against River |\n|---|---:|---:|\n", o.outbox)
	for i, m := range all {
		fmt.Fprintf(&t, "| %s | %.0f | %.2f |\n", m.name, median(rates[i]), median(ratios(rates[i], rates[0])))
	}
	idle, err := wakeLatency(ctx, pool)
	return t.String() + idle, err
}

// carry is messages per second of one messenger, from the first transaction to the
// last delivery. Each message is delivered at least once.
func carry(ctx context.Context, pool *pgxpool.Pool, m messenger, n, clients int) (float64, error) {
	var (
		seen  = make([]atomic.Bool, n)
		left  atomic.Int64
		done  = make(chan struct{})
		base  = numbers.Add(int64(n)) - int64(n)
		next  atomic.Int64
		wg    sync.WaitGroup
		wrong atomic.Pointer[error]
	)
	left.Store(int64(n))
	began := time.Now()
	stop, err := m.start(ctx, func(at int64) {
		if at -= base; at >= 0 && at < int64(n) && !seen[at].Swap(true) && left.Add(-1) == 0 {
			close(done)
		}
	})
	if err != nil {
		return 0, err
	}
	for range clients {
		wg.Go(func() {
			for at := next.Add(1) - 1; at < int64(n) && wrong.Load() == nil; at = next.Add(1) - 1 {
				if err := writeOne(ctx, pool, m, base+at); err != nil {
					wrong.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := wrong.Load(); err != nil {
		return 0, *err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	took := time.Since(began)
	return float64(n) / took.Seconds(), stop()
}

// writeOne is a payment and its message, in one transaction.
func writeOne(ctx context.Context, pool *pgxpool.Pool, m messenger, n int64) error {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := db.New(tx).CreatePayment(ctx, db.CreatePaymentParams{TenantID: tenant, OrderID: "message-" + strconv.FormatInt(n, 10), Amount: 100})
		if err != nil {
			return err
		}
		return m.write(ctx, tx, n)
	})
	if err == nil {
		m.wrote()
	}
	return err
}

func idemgenMessenger(pool *pgxpool.Pool) messenger {
	var d *outbox.Dispatcher
	return messenger{
		name: "idemgen: a row of idem.outbox, and a Dispatcher",
		write: func(ctx context.Context, tx pgx.Tx, n int64) error {
			_, err := tx.Exec(ctx, `INSERT INTO idem.outbox (scope, operation, topic, key, payload) VALUES ($1, 'bench.CreatePayment', 'payment.created', $2, $3)`,
				tenant, "message-"+strconv.FormatInt(n, 10), delivery{n})
			return err
		},
		wrote: func() { d.Wake(pool) },
		start: func(ctx context.Context, delivered func(int64)) (func() error, error) {
			d = &outbox.Dispatcher{Pool: pool, Batch: 2000, Concurrency: 100, Sinks: map[string]outbox.Sink{
				"*": outbox.Func(func(_ context.Context, e outbox.Event) error {
					n, err := strconv.ParseInt(string(e.Payload[len(`{"n":`):len(e.Payload)-1]), 10, 64)
					delivered(n)
					return err
				}),
			}}
			return running(ctx, d), nil
		},
	}
}

// running runs a dispatcher until it is stopped.
func running(ctx context.Context, d *outbox.Dispatcher) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// riverWorker is a Go function for River.
type riverWorker struct {
	river.WorkerDefaults[delivery]
	delivered func(int64)
}

// Work is called for each message.
func (w *riverWorker) Work(_ context.Context, job *river.Job[delivery]) error {
	w.delivered(job.Args.N)
	return nil
}

func riverMessenger(pool *pgxpool.Pool) messenger {
	var client *river.Client[pgx.Tx]
	return messenger{
		name: "River: InsertTx, and a worker",
		write: func(ctx context.Context, tx pgx.Tx, n int64) error {
			_, err := client.InsertTx(ctx, tx, delivery{n}, nil)
			return err
		},
		wrote: func() {},
		start: func(ctx context.Context, delivered func(int64)) (func() error, error) {
			workers := river.NewWorkers()
			river.AddWorker(workers, &riverWorker{delivered: delivered})
			made, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
				Logger:        slog.New(slog.DiscardHandler),
				Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}},
				FetchCooldown: 2 * time.Millisecond,
				Workers:       workers,
			})
			if err != nil {
				return nil, err
			}
			client = made
			return func() error { return made.Stop(ctx) }, made.Start(ctx)
		},
	}
}

// wakeLatency is the time from a commit to its delivery where nothing else goes on.
func wakeLatency(ctx context.Context, pool *pgxpool.Pool) (string, error) {
	m := idemgenMessenger(pool)
	got := make(chan struct{}, 1)
	stop, err := m.start(ctx, func(int64) { got <- struct{}{} })
	if err != nil {
		return "", err
	}
	var waits latencies
	for range 300 {
		if err := writeOne(ctx, pool, m, numbers.Add(1)); err != nil {
			return "", err
		}
		began := time.Now()
		<-got
		waits = append(waits, time.Since(began))
	}
	slices.Sort(waits)
	text := fmt.Sprintf("\nFrom the commit to the function, idle: median %s, p99 %s\n", waits.at(0.5).Round(time.Microsecond), waits.at(0.99).Round(time.Microsecond))
	return text, stop()
}

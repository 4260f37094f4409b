package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
)

// expiredKeys loads what a service of many tenants has left behind, and the
// keys that still live: as many as a tenth of it.
const expiredKeys = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
SELECT 'tenant-' || i % 100, substr(sha256(int8send(i)), 1, 16), 'bench.CreatePayment', 'old-' || i, '\x01', 201,
  '{"Content-Type": "application/json"}', repeat('x', 140),
  clock_timestamp() + CASE WHEN i % 11 = 0 THEN '1 hour' ELSE '-1 hour' END::interval + i * interval '100 microseconds'
FROM generate_series(1, $1::bigint * 11 / 10) i`

// besideSweep is what happened to traffic while expired keys were deleted.
type besideSweep struct {
	without, with latencies // of the traffic
	ratios        []float64 // of p99, by round
	swept         idem.Swept
	took          time.Duration // the sweeper's, without its pauses
	expired, live int64         // keys: before; and left that had expired, and that had not, among those loaded
	left          int64
}

// sweepGroup is the latency of requests beside the sweeper.
func sweepGroup(ctx context.Context, b *bench) (*section, error) {
	url, err := b.database(ctx, "sweep")
	if err != nil {
		return nil, err
	}
	beside, err := sweepBeside(ctx, url, options{clients: b.sweepClients, slice: b.sweepSlice, sweep: b.sweep})
	if err != nil {
		return nil, err
	}
	if len(beside.ratios) > 0 {
		b.found(figureSweep, median(beside.ratios), fmt.Sprintf("median of %d rounds", len(beside.ratios)))
	}
	return &section{title: "Beside the sweeper", text: fmt.Sprintf("%d clients, local, interleaved slices of %s each.\n\n", b.sweepClients, b.sweepSlice) + beside.report()}, nil
}

// sweepBeside loads o.sweep expired keys, and then deletes them beside traffic
// in every second slice of time, until they are gone.
func sweepBeside(ctx context.Context, url string, o options) (*besideSweep, error) {
	pool, err := openPool(ctx, url, o.clients)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	b := &besideSweep{}
	tag, err := pool.Exec(ctx, expiredKeys, o.sweep)
	if err != nil {
		return nil, fmt.Errorf("load %d expired keys: %w", o.sweep, err)
	}
	b.expired = tag.RowsAffected() - tag.RowsAffected()/11
	for _, sql := range []string{"VACUUM ANALYZE idem.keys", "CHECKPOINT"} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	all, err := idemgenContenders(pool)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(c contender) bool { return c.name == overHTTP })
	if _, err := timed(ctx, all[at], o); err != nil { // warms up
		return nil, err
	}
	if err := b.alternate(ctx, url, all[at], o); err != nil {
		return nil, err
	}
	return b, pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE expires_at <= clock_timestamp()),
		count(*) FILTER (WHERE expires_at > clock_timestamp() AND key LIKE 'old-%') FROM idem.keys`).Scan(&b.left, &b.live)
}

// alternate sends traffic without and with the sweeper in turn. Who has the
// sweeper's one connection decides whether it goes on.
func (b *besideSweep) alternate(ctx context.Context, url string, c contender, o options) error {
	own, err := openPool(ctx, url, 1)
	if err != nil {
		return err
	}
	defer own.Close()
	stop := &brake{pool: own}
	if err := stop.pull(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		var err error
		b.swept, err = (&idem.Sweeper{Pool: own}).Sweep(ctx)
		done <- err
	}()
	for round := 0; ; round++ {
		without, with, err := b.round(ctx, stop, c, o, round%2 == 1)
		if err != nil {
			stop.release()
			return errors.Join(err, <-done)
		}
		select {
		case err := <-done:
			stop.release()
			return err
		default: // the sweeper had work in all of the slice
			b.without = append(b.without, without...)
			b.with = append(b.with, with...)
			b.ratios = append(b.ratios, ratio(with.at(0.99), without.at(0.99)))
		}
	}
}

// round is one slice with the sweeper and one without it, in either order.
func (b *besideSweep) round(ctx context.Context, stop *brake, c contender, o options, sweepFirst bool) (without, with latencies, err error) {
	if !sweepFirst {
		if without, err = timed(ctx, c, o); err != nil {
			return nil, nil, err
		}
	}
	began := time.Now()
	stop.release()
	if with, err = timed(ctx, c, o); err != nil {
		return nil, nil, err
	}
	if err = stop.pull(ctx); err != nil {
		return nil, nil, err
	}
	b.took += time.Since(began)
	if sweepFirst {
		without, err = timed(ctx, c, o)
	}
	return without, with, err
}

// brake holds the sweeper's one connection, so that it waits.
type brake struct {
	pool *pgxpool.Pool
	conn *pgxpool.Conn
}

// pull takes the connection when the sweeper's batch has ended.
func (b *brake) pull(ctx context.Context) (err error) {
	b.conn, err = b.pool.Acquire(ctx)
	return err
}

// release gives the sweeper its connection, if it does not have it.
func (b *brake) release() {
	if b.conn != nil {
		b.conn.Release()
		b.conn = nil
	}
}

func openPool(ctx context.Context, url string, connections int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	return pgxpool.NewWithConfig(ctx, config)
}

// timed sends new requests for a slice of time, and fails if one does.
func timed(ctx context.Context, c contender, o options) (latencies, error) {
	var (
		mu  sync.Mutex
		all latencies
	)
	watched := contender{name: c.name, run: func(ctx context.Context, r request) error {
		began := time.Now()
		err := c.run(ctx, r)
		took := time.Since(began)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, took)
		return err
	}}
	_, err := measure(ctx, watched, newKeys, o)
	return all, err
}

// latencies are those of requests, in no order.
type latencies []time.Duration

// at is the latency that a share of the requests does not exceed.
func (l latencies) at(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// report is a table and what the sweeper did.
func (b *besideSweep) report() string {
	var t strings.Builder
	fmt.Fprintf(&t, "%d expired keys beside traffic, %d rounds\n\n| | requests | p50 | p99 | p99.9 |\n|---|---:|---:|---:|---:|\n", b.expired, len(b.ratios))
	for _, row := range []struct {
		name string
		latencies
	}{{"without the sweeper", b.without}, {"with it", b.with}} {
		fmt.Fprintf(&t, "| %s | %d | %s | %s | %s |\n", row.name, len(row.latencies),
			row.at(0.5).Round(time.Microsecond), row.at(0.99).Round(time.Microsecond), row.at(0.999).Round(time.Microsecond))
	}
	fmt.Fprintf(&t, "| ratio | %.2f | %.2f | %.2f | %.2f |\n", float64(len(b.with))/float64(max(1, len(b.without))),
		ratio(b.with.at(0.5), b.without.at(0.5)), ratio(b.with.at(0.99), b.without.at(0.99)), ratio(b.with.at(0.999), b.without.at(0.999)))
	if len(b.ratios) > 0 {
		fmt.Fprintf(&t, "\nmedian of the rounds' p99 ratios: %.2f\n", median(b.ratios))
	}
	fmt.Fprintf(&t, "\n%d keys deleted in %d rounds, %s of sweeping (%.0f keys/s); %d expired keys left, overdue %s\n",
		b.swept.Keys, b.swept.Rounds, b.took.Round(time.Millisecond), float64(b.swept.Keys)/b.took.Seconds(), b.left, b.swept.Overdue)
	return t.String()
}

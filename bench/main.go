// Command bench compares idemgen with what one would write instead, all in one
// run on one server: only ratios of one run mean anything.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that goose uses
	"github.com/pressly/goose/v3"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

//go:generate go run github.com/idemgen/idemgen/cmd/idemgen generate

//go:embed db/migrations/*.sql
var migrations embed.FS

type options struct {
	clients int
	rounds  int
	slice   time.Duration
	durable bool
	sweep   int
	outbox  int
}

func main() {
	var o options
	flag.IntVar(&o.clients, "clients", 8, "requests at once")
	flag.IntVar(&o.rounds, "rounds", 25, "interleaved rounds per contender")
	flag.DurationVar(&o.slice, "slice", 250*time.Millisecond, "time of one contender in one round")
	flag.BoolVar(&o.durable, "durable", true, "the server syncs each commit to disk, as in production")
	flag.IntVar(&o.sweep, "sweep", 0, "compare the latency of requests with and without a sweeper that deletes this many expired keys, and nothing else")
	flag.IntVar(&o.outbox, "outbox", 0, "write and deliver this many events with idemgen's outbox and with River, and nothing else")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir := "" // pgserver's own, and not synced
	if o.durable {
		made, err := os.MkdirTemp("", "idemgen-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		dir = made
	}
	server, err := pgserver.Start(ctx, dir)
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := migrate(ctx, server.URL()); err != nil {
		return err
	}
	setting, err := settings(ctx, server.URL())
	if err != nil {
		return err
	}
	if o.outbox > 0 {
		fmt.Printf("%d clients; %s\n", o.clients, setting)
		return outboxBeside(ctx, server.URL(), o)
	}
	if o.sweep > 0 {
		fmt.Printf("%d clients, interleaved slices of %s each; %s\n", o.clients, o.slice, setting)
		b, err := sweepBeside(ctx, server.URL(), o)
		if err == nil {
			b.report()
		}
		return err
	}
	fmt.Printf("%d clients, %d interleaved rounds of %s each; %s\n", o.clients, o.rounds, o.slice, setting)
	for _, roundTrip := range []time.Duration{0, time.Millisecond} {
		if err := compare(ctx, server.URL(), roundTrip, o); err != nil {
			return err
		}
	}
	return nil
}

// settings is what decides the price of a commit.
func settings(ctx context.Context, url string) (text string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT 'PostgreSQL ' || current_setting('server_version')"+
		" || ', fsync ' || current_setting('fsync')"+
		" || ', synchronous_commit ' || current_setting('synchronous_commit')").Scan(&text)
	return text, err
}

func migrate(ctx context.Context, url string) error {
	conn, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer conn.Close()
	folder, err := fs.Sub(migrations, "db/migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, folder)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// compare runs every contender in each round, in turn.
func compare(ctx context.Context, url string, roundTrip time.Duration, o options) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	config.MaxConns = int32(o.clients)
	config.ConnConfig.DialFunc = dialer(roundTrip)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := contenders(pool)
	if err != nil {
		return err
	}
	rates := make([][]float64, len(all))
	for round := range o.rounds + 1 {
		for i := range all {
			at := (i + round) % len(all)
			rate, err := measure(ctx, all[at], o)
			if err != nil {
				return err
			}
			if round > 0 { // the first warms up
				rates[at] = append(rates[at], rate)
			}
		}
	}
	report(roundTrip, all, rates)
	return nil
}

// keys makes every request of a run a new one.
var keys atomic.Int64

// measure is requests per second of one contender in one slice of time.
func measure(ctx context.Context, c contender, o options) (float64, error) {
	var (
		wg       sync.WaitGroup
		done     atomic.Int64
		failed   atomic.Pointer[error]
		start    = time.Now()
		deadline = start.Add(o.slice)
	)
	for range o.clients {
		wg.Go(func() {
			for once := true; (once || time.Now().Before(deadline)) && failed.Load() == nil; once = false {
				n := strconv.FormatInt(keys.Add(1), 10)
				if err := c.run(ctx, "key-"+n, "order-"+n); err != nil {
					err = fmt.Errorf("%s: %w", c.name, err)
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// report prints medians. The ratios are medians too, of the ratios within each
// round: what else the machine does changes from round to round.
func report(roundTrip time.Duration, all []contender, rates [][]float64) {
	fmt.Printf("\n%s added round trip\n\n| contender | requests/s | against bare | against textbook | against the same by hand |\n|---|---:|---:|---:|---:|\n", roundTrip)
	for i, c := range all {
		byHand := ""
		if c.byHand != "" {
			at := slices.IndexFunc(all, func(other contender) bool { return other.name == c.byHand })
			byHand = fmt.Sprintf("%.2f", median(ratios(rates[i], rates[at])))
		}
		fmt.Printf("| %s | %.0f | %.2f | %.2f | %s |\n", c.name, median(rates[i]),
			median(ratios(rates[i], rates[0])), median(ratios(rates[i], rates[1])), byHand)
	}
}

// ratios are of the same round each.
func ratios(rates, to []float64) []float64 {
	out := make([]float64, len(rates))
	for i := range rates {
		out[i] = rates[i] / to[i]
	}
	return out
}

func median(v []float64) float64 {
	sorted := slices.Clone(v)
	slices.SortFunc(sorted, cmp.Compare[float64])
	return sorted[len(sorted)/2]
}

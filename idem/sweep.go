package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/idemgen/idemgen/gen"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Sweeper deletes expired keys, and events that were processed long ago. Zero
// values are defaults. Several may work side by side, in one process or many.
type Sweeper struct {
	Pool     *pgxpool.Pool
	Batch    int           // rows per transaction; 1000
	Interval time.Duration // between sweeps, with jitter of a quarter; 1 minute
	Events   time.Duration // how long processed events are kept; 7 days
	// LockTimeout and StatementTimeout bound one batch; 100 ms and 5 s.
	LockTimeout, StatementTimeout time.Duration
	Logger                        *slog.Logger
}

// Swept is what a sweep did.
type Swept struct {
	Keys, Events int64 // deleted rows
	Rounds       int   // transactions
	// Overdue is the age of the oldest expired key that is still there.
	Overdue time.Duration
}

const minSweepBatch = 10

// Run sweeps at intervals until ctx ends, then returns nil. A sweep that fails
// is logged; the next one goes on.
func (s *Sweeper) Run(ctx context.Context) error {
	set := s.orDefault()
	if set.Pool == nil {
		return errors.New("idem: the sweeper has no pool")
	}
	for {
		swept, err := set.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			set.Logger.ErrorContext(ctx, "sweep failed", "error", err)
		case swept.Keys+swept.Events > 0:
			set.Logger.InfoContext(ctx, "swept", "keys", swept.Keys, "events", swept.Events,
				"rounds", swept.Rounds, "overdue", swept.Overdue)
		}
		timer := time.NewTimer(set.Interval*3/4 + rand.N(set.Interval/2+1))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// Sweep deletes what is expired now, batch by batch. On an error it returns
// what was done before.
func (s *Sweeper) Sweep(ctx context.Context) (Swept, error) {
	set := s.orDefault()
	var swept Swept
	keys := func(q *gen.Queries, batch int32) (int64, error) { return q.SweepKeys(ctx, batch) }
	keep := pgtype.Interval{Microseconds: set.Events.Microseconds(), Valid: true}
	events := func(q *gen.Queries, batch int32) (int64, error) {
		return q.SweepEvents(ctx, gen.SweepEventsParams{Keep: keep, Batch: batch})
	}
	if err := set.drain(ctx, &swept.Keys, &swept.Rounds, keys); err != nil {
		return swept, err
	}
	if err := set.drain(ctx, &swept.Events, &swept.Rounds, events); err != nil {
		return swept, err
	}
	seconds, err := queries(set.Pool).OldestOverdue(ctx)
	if err != nil {
		return swept, fmt.Errorf("idem: sweep: %w", err)
	}
	swept.Overdue = time.Duration(seconds * float64(time.Second))
	return swept, nil
}

// drain runs batches until one is not full. A batch that took too long is tried
// again with half as many rows.
func (s *Sweeper) drain(ctx context.Context, deleted *int64, rounds *int, sweep func(*gen.Queries, int32) (int64, error)) error {
	batch := s.Batch
	for {
		n, err := s.round(ctx, int32(batch), sweep)
		*rounds++
		switch code := sqlState(err); {
		case (code == "57014" || code == "55P03" || code == "40P01") && batch > minSweepBatch && ctx.Err() == nil:
			batch = max(minSweepBatch, batch/2)
			continue
		case err != nil:
			return fmt.Errorf("idem: sweep: %w", err)
		}
		*deleted += n
		if n < int64(batch) {
			return nil
		}
		batch = min(s.Batch, batch*2)
	}
}

// round is one transaction, at READ COMMITTED whatever the default is.
func (s *Sweeper) round(ctx context.Context, batch int32, sweep func(*gen.Queries, int32) (int64, error)) (n int64, err error) {
	err = pgx.BeginTxFunc(ctx, s.Pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		q := queries(tx)
		limits := gen.LimitSweepParams{LockTimeout: millis(s.LockTimeout), StatementTimeout: millis(s.StatementTimeout)}
		if err := q.LimitSweep(ctx, limits); err != nil {
			return err
		}
		n, err = sweep(q, batch)
		return err
	})
	return n, err
}

func (s *Sweeper) orDefault() *Sweeper {
	set := *s
	if set.Batch <= 0 {
		set.Batch = 1000
	}
	if set.Interval <= 0 {
		set.Interval = time.Minute
	}
	if set.Events <= 0 {
		set.Events = 7 * 24 * time.Hour
	}
	if set.LockTimeout <= 0 {
		set.LockTimeout = 100 * time.Millisecond
	}
	if set.StatementTimeout <= 0 {
		set.StatementTimeout = 5 * time.Second
	}
	if set.Logger == nil {
		set.Logger = slog.Default()
	}
	return &set
}

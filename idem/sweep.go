package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
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
	// Rest is how many times as long as a full batch took the sweeper rests after
	// it, so that traffic hardly notices; 7, negative: it does not. Over the first
	// half hour of a sweep the rests shrink to none: whoever does not keep up
	// needs all the time.
	Rest   float64
	Events time.Duration // how long processed events are kept; 7 days
	// LockTimeout and StatementTimeout bound one batch; 100 ms and 5 s.
	LockTimeout, StatementTimeout time.Duration
	Logger                        *slog.Logger
	// Observer is told of the sweeps of Run; nil: nobody.
	Observer SweepObserver

	pause func(context.Context, time.Duration) error // nil: rest
}

// Swept is what a sweep did.
type Swept struct {
	Keys, Events int64 // deleted rows
	Rounds       int   // transactions
	// Overdue is the age of the oldest expired key that is still there.
	Overdue time.Duration
}

const (
	minSweepBatch = 10
	// restless is how long a sweep takes before it does not rest any more.
	restless = 30 * time.Minute
)

// Run sweeps at intervals until ctx ends, then returns nil. A sweep that fails
// is logged; the next one goes on.
func (s *Sweeper) Run(ctx context.Context) error {
	set := s.orDefault()
	if set.Pool == nil {
		return errors.New("idem: the sweeper has no pool")
	}
	for {
		began := time.Now()
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
		set.tell(ctx, SweepEnd{Swept: swept, Duration: time.Since(began), Failed: err != nil})
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
	if err := set.drain(ctx, &swept.Keys, &swept.Rounds, sweepKeys); err != nil {
		return swept, err
	}
	if err := set.drain(ctx, &swept.Events, &swept.Rounds, sweepEvents(set.Events)); err != nil {
		return swept, err
	}
	var ended int64 // they go with their keys, which are counted
	var rounds int
	if err := set.drain(ctx, &ended, &rounds, sweepWork); err != nil {
		return swept, err
	}
	if ended > 0 {
		swept.Rounds += rounds
	}
	seconds, err := queries(set.Pool).OldestOverdue(ctx)
	if err != nil {
		return swept, fmt.Errorf("idem: sweep: %w", err)
	}
	swept.Overdue = time.Duration(seconds * float64(time.Second))
	return swept, nil
}

// batchOf deletes at most batch rows, from the time after on, and says how many
// they were and how far it came.
type batchOf func(ctx context.Context, q *gen.Queries, after pgtype.Timestamptz, batch int32) (gen.SweepKeysRow, error)

func sweepKeys(ctx context.Context, q *gen.Queries, after pgtype.Timestamptz, batch int32) (gen.SweepKeysRow, error) {
	return q.SweepKeys(ctx, gen.SweepKeysParams{After: after, Batch: batch})
}

// sweepWork deletes what async operations were, once their records are expired.
func sweepWork(ctx context.Context, q *gen.Queries, after pgtype.Timestamptz, batch int32) (gen.SweepKeysRow, error) {
	row, err := q.SweepWork(ctx, gen.SweepWorkParams{After: after, Batch: batch})
	return gen.SweepKeysRow(row), err
}

func sweepEvents(keep time.Duration) batchOf {
	age := pgtype.Interval{Microseconds: keep.Microseconds(), Valid: true}
	return func(ctx context.Context, q *gen.Queries, after pgtype.Timestamptz, batch int32) (gen.SweepKeysRow, error) {
		row, err := q.SweepEvents(ctx, gen.SweepEventsParams{After: after, Keep: age, Batch: batch})
		return gen.SweepKeysRow(row), err
	}
}

// drain runs batches until one is not full. Each begins where the one before
// has ended: from the start of the index it would walk over all that is deleted
// already, and a sweep of n rows would take n² steps beside a long transaction.
// A batch that took too long is tried again with half as many rows. After a full
// one the sweeper rests.
func (s *Sweeper) drain(ctx context.Context, deleted *int64, rounds *int, sweep batchOf) error {
	began, batch := time.Now(), s.Batch
	after := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	for {
		row, took, err := s.round(ctx, after, int32(batch), sweep)
		*rounds++
		switch code := sqlState(err); {
		case (code == "57014" || code == "55P03" || code == "40P01") && batch > minSweepBatch && ctx.Err() == nil:
			batch = max(minSweepBatch, batch/2)
			continue
		case err != nil:
			return fmt.Errorf("idem: sweep: %w", err)
		}
		*deleted += row.Deleted
		if row.Deleted < int64(batch) {
			return nil
		}
		after = row.Last
		batch = min(s.Batch, batch*2)
		if err := s.pause(ctx, s.restAfter(took, time.Since(began))); err != nil {
			return fmt.Errorf("idem: sweep: %w", err)
		}
	}
}

// restAfter is the rest after a batch that took so long, in a sweep that goes on
// for so long.
func (s *Sweeper) restAfter(batch, sweep time.Duration) time.Duration {
	return max(0, time.Duration(s.Rest*float64(batch)*(1-sweep.Seconds()/restless.Seconds())))
}

// rest waits for d, less if ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// round is one transaction, at READ COMMITTED whatever the default is.
func (s *Sweeper) round(ctx context.Context, after pgtype.Timestamptz, batch int32, sweep batchOf) (row gen.SweepKeysRow, took time.Duration, err error) {
	var began time.Time // with a connection: waiting for one is no work of the server
	err = pgx.BeginTxFunc(ctx, s.Pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		began = time.Now()
		q := queries(tx)
		limits := gen.LimitSweepParams{LockTimeout: millis(s.LockTimeout), StatementTimeout: millis(s.StatementTimeout)}
		if err := q.LimitSweep(ctx, limits); err != nil {
			return err
		}
		row, err = sweep(ctx, q, after, batch)
		return err
	})
	return row, time.Since(began), err
}

func (s *Sweeper) orDefault() *Sweeper {
	set := *s
	if set.Batch <= 0 {
		set.Batch = 1000
	}
	set.Batch = min(set.Batch, math.MaxInt32) // the SQL's integer
	if set.Rest == 0 {
		set.Rest = 7
	}
	if set.pause == nil {
		set.pause = rest
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

// tell tells of a sweep of Run.
func (s *Sweeper) tell(ctx context.Context, end SweepEnd) {
	if s.Observer == nil {
		return
	}
	end.Database = databaseOf(s.Pool.Config().ConnConfig)
	guard(ctx, s.Logger, func() { s.Observer.KeysSwept(ctx, end) })
}

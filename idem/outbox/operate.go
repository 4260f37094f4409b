package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
)

// Selection chooses events for Retry and Discard: the DEAD ones that it fits, and
// with an ID also one that is PENDING. "" fits all; a scope beside an ID makes it
// quick to find.
type Selection struct{ Scope, Topic, ID string }

// Retry makes DEAD events PENDING again, with all their tries, and one that waits
// for its next try due at once. It returns how many they were: an event that a
// dispatcher holds, or that waits for another one of its ordering key, is none.
func Retry(ctx context.Context, pool *pgxpool.Pool, s Selection) (int64, error) {
	var n int64
	err := operate(ctx, pool, func(q *gen.Queries) (err error) {
		n, err = q.RetryEvents(ctx, gen.RetryEventsParams{ID: s.ID, Scope: s.Scope, Topic: s.Topic})
		return err
	})
	return n, err
}

// Discard ends events without a delivery; those behind them go on. The rows are
// kept as PROCESSED, with the reason "discarded", until they are swept. It returns
// how many they were: an event that a dispatcher holds is none.
func Discard(ctx context.Context, pool *pgxpool.Pool, s Selection) (int64, error) {
	var n int64
	err := operate(ctx, pool, func(q *gen.Queries) error {
		row, err := q.DiscardEvents(ctx, gen.DiscardEventsParams{ID: s.ID, Scope: s.Scope, Topic: s.Topic})
		n = row.Changed
		return err
	})
	return n, err
}

func operate(ctx context.Context, pool *pgxpool.Pool, do func(*gen.Queries) error) error {
	if pool == nil {
		return errors.New("outbox: there is no pool")
	}
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		return do(gen.New(unnamed{tx}))
	})
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

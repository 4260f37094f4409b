package idem

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// leasedTx is the transaction as a Go function has it: until it returns. The
// connection is another request's afterwards.
type leasedTx struct {
	tx    Tx
	step  string
	ended atomic.Bool
	// uncached: the statements that pgx remembers do not fit this server; see
	// isStale. The unnamed one fits any.
	uncached bool
}

// mode puts the way of execution before the arguments.
func (l *leasedTx) mode(args []any) []any {
	if !l.uncached {
		return args
	}
	return append([]any{pgx.QueryExecModeDescribeExec}, args...)
}

func (l *leasedTx) end() { l.ended.Store(true) }

func (l *leasedTx) check() error {
	if l.ended.Load() {
		return fmt.Errorf("idem: the transaction is used after the function of step %s has returned", l.step)
	}
	return nil
}

func (l *leasedTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := l.check(); err != nil {
		return pgconn.CommandTag{}, err
	}
	return l.tx.Exec(ctx, sql, l.mode(args)...)
}

func (l *leasedTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.tx.Query(ctx, sql, l.mode(args)...)
}

func (l *leasedTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := l.check(); err != nil {
		return refusedRow{err}
	}
	return l.tx.QueryRow(ctx, sql, l.mode(args)...)
}

func (l *leasedTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if err := l.check(); err != nil {
		return pgx.FailedBatchResults(batch, err)
	}
	return l.tx.SendBatch(ctx, batch)
}

func (l *leasedTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	return l.tx.CopyFrom(ctx, table, columns, rows)
}

type refusedRow struct{ err error }

func (r refusedRow) Scan(...any) error { return r.err }

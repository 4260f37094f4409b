package idem

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// leasedTx is the transaction as a Go function has it: until it returns. The
// connection is another request's afterwards.
type leasedTx struct {
	tx     Tx
	holder string // who has it, as in "the function of step Refund"

	mu      sync.Mutex
	running int // statements under way
	ended   bool

	statements sync.WaitGroup     // those of running
	cancel     context.CancelFunc // of the context that the function was given
	// uncached: the statements that pgx remembers do not fit this server; see
	// isStale. The unnamed one fits any.
	uncached bool
}

// lease lends the connection's transaction.
func (c *conn) lease(holder string, p *pool, cancel context.CancelFunc) *leasedTx {
	return &leasedTx{tx: c.pool.Conn(), holder: holder, uncached: p.named && !c.named, cancel: cancel}
}

// mode puts the way of execution before the arguments.
func (l *leasedTx) mode(args []any) []any {
	if !l.uncached {
		return args
	}
	return append([]any{pgx.QueryExecModeDescribeExec}, args...)
}

// end takes the transaction back: no statement begins any more, and one that a
// goroutine of the function still runs is cancelled and waited for. To close a
// connection that is in use would end the process. Idle: there was none.
func (l *leasedTx) end() (idle bool) {
	l.mu.Lock()
	idle = l.ended || l.running == 0
	l.ended = true
	l.mu.Unlock()
	if !idle {
		l.cancel()
	}
	l.statements.Wait()
	return idle
}

// use keeps count of a statement until release is called.
func (l *leasedTx) use() (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, fmt.Errorf("idem: the transaction is used after %s has returned", l.holder)
	}
	l.running++
	l.statements.Add(1)
	return l.release, nil
}

func (l *leasedTx) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.statements.Done()
}

// giveBack ends the lease of a function that has succeeded, which must have left
// nothing open: it would meet the statements that follow.
func (l *leasedTx) giveBack(c *conn) error {
	if idle := l.end(); !idle || c.pool.Conn().PgConn().IsBusy() {
		return fmt.Errorf("idem: %s left a statement, rows or a batch open: it must close them before it returns", l.holder)
	}
	return nil
}

func (l *leasedTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	release, err := l.use()
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer release()
	return l.tx.Exec(ctx, sql, l.mode(args)...)
}

func (l *leasedTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	release, err := l.use()
	if err != nil {
		return nil, err
	}
	defer release()
	return l.tx.Query(ctx, sql, l.mode(args)...)
}

func (l *leasedTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	release, err := l.use()
	if err != nil {
		return refusedRow{err}
	}
	defer release()
	return l.tx.QueryRow(ctx, sql, l.mode(args)...)
}

func (l *leasedTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	release, err := l.use()
	if err != nil {
		return pgx.FailedBatchResults(batch, err)
	}
	defer release()
	return l.tx.SendBatch(ctx, batch)
}

func (l *leasedTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	release, err := l.use()
	if err != nil {
		return 0, err
	}
	defer release()
	return l.tx.CopyFrom(ctx, table, columns, rows)
}

type refusedRow struct{ err error }

func (r refusedRow) Scan(...any) error { return r.err }

package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pooling finds out who answers: PostgreSQL itself, or a pooler that gives out
// its connections per transaction, and whether that one knows prepared statements.
func pooling(ctx context.Context, e *exam) error {
	first, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(first)
	second, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer closeConn(second)
	own, err := backend(ctx, first)
	if err != nil {
		return err
	}
	shared, err := changes(ctx, first, second, own)
	if err != nil {
		return err
	}
	if !shared {
		if first.PgConn().PID() != own {
			e.ok("a pooler or proxy that gives out connections per session")
			return nil
		}
		e.ok("a direct connection")
		return nil
	}
	e.pooled = true
	return e.statements(ctx, first, second)
}

// connect makes a connection of its own, which prepares nothing by itself.
func (e *exam) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.ConnectConfig(ctx, e.Pool.Config().ConnConfig.Copy())
}

func closeConn(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx) // nothing depends on it any more
}

func backend(ctx context.Context, c interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) (pid uint32, err error) {
	err = c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	return pid, err
}

// changes reports whether two transactions of one connection can run on two
// backends: while another client is inside one, which a pooler gives the backend
// that was free last.
func changes(ctx context.Context, first, second *pgx.Conn, own uint32) (bool, error) {
	tx, err := second.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	held, err := backend(ctx, tx)
	if err != nil {
		return false, err
	}
	if held == own {
		return true, nil
	}
	again, err := backend(ctx, first)
	return again != own, err
}

const probe = "idemgen_doctor"

// statements prepares on one backend and executes on another.
func (e *exam) statements(ctx context.Context, first, second *pgx.Conn) error {
	known, err := remembers(ctx, first, second)
	if err != nil {
		return err
	}
	switch {
	case e.mode == pgx.QueryExecModeDescribeExec:
		e.add(Problem, "use default_query_exec_mode=exec in the URL",
			"the URL says describe_exec behind a pooler in transaction mode: a statement may be described on one backend and run on another")
	case known:
		e.ok("a pooler in transaction mode, which knows prepared statements")
	case e.mode == pgx.QueryExecModeCacheStatement:
		e.add(Warning, "add default_query_exec_mode=exec to the URL of the service; or PgBouncer 1.21 with max_prepared_statements above 0",
			"a pooler in transaction mode that does not know prepared statements, and the URL says cache_statement: requests fail with 26000 and 42P05, and are run again")
	default:
		e.ok("a pooler in transaction mode without prepared statements, and the URL uses none")
	}
	return nil
}

func remembers(ctx context.Context, first, second *pgx.Conn) (bool, error) {
	if _, err := first.PgConn().Prepare(ctx, probe, "SELECT 1", nil); err != nil {
		return false, notThere(err)
	}
	tx, err := second.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := backend(ctx, tx); err != nil { // takes the backend that has it
		return false, err
	}
	waiting, cancel := context.WithTimeout(ctx, patience/4)
	defer cancel()
	result := first.PgConn().ExecPrepared(waiting, probe, nil, nil, nil).Read()
	if waiting.Err() != nil {
		return false, errors.New("the pooler has no second server connection to try prepared statements on")
	}
	if result.Err != nil {
		_, _ = tx.Exec(ctx, "DEALLOCATE "+probe) // it may be another backend's, and then the pooler ends it
		return false, notThere(result.Err)
	}
	return true, nil
}

// notThere takes the errors of a pooler that mixes statements up for an answer.
func notThere(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "26000" || pg.Code == "42P05") {
		return nil
	}
	return err
}

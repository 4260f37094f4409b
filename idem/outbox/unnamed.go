package outbox

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/gen"
)

// unnamed runs statements without preparing them under a name: behind a pooler a
// name may stand for another statement, or for none.
type unnamed struct{ gen.DBTX }

func (u unnamed) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return u.DBTX.Exec(ctx, sql, inExecMode(args)...)
}

func (u unnamed) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return u.DBTX.Query(ctx, sql, inExecMode(args)...)
}

func (u unnamed) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return u.DBTX.QueryRow(ctx, sql, inExecMode(args)...)
}

func inExecMode(args []any) []any { return append([]any{pgx.QueryExecModeExec}, args...) }

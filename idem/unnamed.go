package idem

import (
	"context"

	"github.com/idemgen/idemgen/gen"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// unnamed runs statements without preparing them under a name: they run seldom,
// and behind a pooler a name may stand for another statement, or for none.
type unnamed struct{ gen.DBTX }

// queries are the runtime's own, for pools and transactions alike.
func queries(db gen.DBTX) *gen.Queries { return gen.New(unnamed{db}) }

func (u unnamed) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return u.DBTX.Exec(ctx, sql, inExecMode(args)...)
}

func (u unnamed) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return u.DBTX.Query(ctx, sql, inExecMode(args)...)
}

func (u unnamed) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return u.DBTX.QueryRow(ctx, sql, inExecMode(args)...)
}

func inExecMode(args []any) []any {
	return append([]any{pgx.QueryExecModeExec}, args...)
}

package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// planName is a prepared statement that only this command makes.
const planName = "idemgen_plan"

// explainStatement gives the generic plan of a statement. PREPARE does not run
// it, EXPLAIN without ANALYZE neither; the transaction is read-only besides, and
// does not wait for a lock. All is sent as plain texts, which every server from
// 13 on and every pooler takes.
func explainStatement(ctx context.Context, pool *pgxpool.Pool, sql string, params int) (lines []string, err error) {
	err = pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		for _, text := range []string{
			"SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '30s'",
			"PREPARE " + planName + " AS " + sql,
		} {
			if _, err := tx.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		lines, err = explainPrepared(ctx, tx, params)
		// What PREPARE made outlives the transaction, on a connection that a pooler
		// may give to others.
		_, dropErr := tx.Exec(ctx, "DEALLOCATE "+planName, pgx.QueryExecModeSimpleProtocol)
		return errors.Join(err, dropErr)
	})
	return lines, err
}

// explainPrepared runs in a savepoint, so that an error leaves the transaction
// fit for the DEALLOCATE.
func explainPrepared(ctx context.Context, tx pgx.Tx, params int) (lines []string, err error) {
	args := ""
	if params > 0 {
		args = "(NULL" + strings.Repeat(", NULL", params-1) + ")"
	}
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "EXPLAIN EXECUTE "+planName+args, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return err
		}
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return lines, err
}

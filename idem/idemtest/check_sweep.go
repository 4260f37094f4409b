package idemtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const sweepCheck = "sweep"

const (
	sweepBatch = 20
	sweepRows  = 101
)

// sweep checks the kit's Sweep: expired keys go in batches, whatever plan the
// database chooses, and a key that is claimed again meanwhile stays.
func (r *rig) sweep() error {
	if r.kit.Sweep == nil {
		return skip("Kit.Sweep is not set")
	}
	if err := r.quiesce(); err != nil {
		return err
	}
	if err := r.sweepBatches(); err != nil {
		return err
	}
	reclaims := map[string]string{
		"renewed": "UPDATE idem.keys SET expires_at = clock_timestamp() + interval '1 day' WHERE scope = 'idemtest'",
		"deleted and claimed again": `WITH gone AS (DELETE FROM idem.keys WHERE scope = 'idemtest' RETURNING 1)
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
SELECT 'idemtest', ` + sweepDigest + `, 'idemtest', 'again', '', 200, clock_timestamp() + interval '1 day'
FROM generate_series(1, (SELECT count(*) FROM gone)) AS i`,
	}
	for how, sql := range reclaims {
		if err := r.sweepBeside(sql); err != nil {
			return fmt.Errorf("a key that is %s while the sweep runs: %w", how, err)
		}
	}
	return nil
}

const sweepDigest = "decode(lpad(to_hex(i), 32, '0'), 'hex')"

// expired adds keys that are expired, and one that is not.
func (r *rig) expired(ctx context.Context, n int) error {
	if _, err := r.pool.Exec(ctx, "DELETE FROM idem.keys"); err != nil {
		return err
	}
	_, err := r.pool.Exec(ctx, `
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
SELECT CASE WHEN i = 0 THEN 'idemtest-live' ELSE 'idemtest' END, `+sweepDigest+`, 'idemtest', 'old', '', 200,
  clock_timestamp() + CASE WHEN i = 0 THEN 1 ELSE -1 END * interval '1 hour'
FROM generate_series(0, $1::int) AS i`, n)
	return err
}

// sweepBatches counts what each statement deletes. Plans that read a LIMIT more
// than once are the only ones allowed.
func (r *rig) sweepBatches() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.kit.Patience)
	defer cancel()
	if err := r.expired(ctx, sweepRows); err != nil {
		return err
	}
	if _, err := r.pool.Exec(ctx, sweepTriggers); err != nil {
		return err
	}
	pool, err := r.nestedLoops(ctx)
	if err != nil {
		return err
	}
	err = r.kit.Sweep(ctx, pool, sweepBatch)
	pool.Close()
	var largest, left, live int64
	row := r.pool.QueryRow(ctx, `SELECT (SELECT coalesce(max(n), 0) FROM idemtest.swept),
  (SELECT count(*) FROM idem.keys WHERE scope = 'idemtest'), (SELECT count(*) FROM idem.keys WHERE scope = 'idemtest-live')`)
	err = errors.Join(err, row.Scan(&largest, &left, &live))
	if _, dropErr := r.pool.Exec(ctx, "DROP TRIGGER idemtest_swept ON idem.keys"); dropErr != nil {
		err = errors.Join(err, dropErr)
	}
	switch {
	case err != nil:
		return err
	case largest > sweepBatch:
		return fmt.Errorf("a batch of %d has deleted %d keys", sweepBatch, largest)
	case left > 0:
		return fmt.Errorf("%d expired keys are left", left)
	case live != 1:
		return errors.New("a key that has not expired was deleted")
	}
	return nil
}

const sweepTriggers = `
CREATE TABLE IF NOT EXISTS idemtest.swept (n bigint NOT NULL);
CREATE OR REPLACE FUNCTION idemtest.swept() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  INSERT INTO idemtest.swept SELECT count(*) FROM gone;
  RETURN NULL;
END $$;
CREATE TRIGGER idemtest_swept AFTER DELETE ON idem.keys REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION idemtest.swept();
`

// nestedLoops is a pool whose server knows no other join.
func (r *rig) nestedLoops(ctx context.Context) (*pgxpool.Pool, error) {
	config := r.pool.Config()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		for _, off := range []string{"hashjoin", "mergejoin", "material", "hashagg", "sort"} {
			if _, err := conn.PgConn().Exec(ctx, "SET enable_"+off+" = off").ReadAll(); err != nil {
				return err
			}
		}
		return nil
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// sweepBeside sweeps while another transaction claims the expired keys again.
func (r *rig) sweepBeside(reclaim string) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.kit.Patience)
	defer cancel()
	const rows = 3
	if err := r.expired(ctx, rows); err != nil {
		return err
	}
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, reclaim); err != nil {
		return errors.Join(err, tx.Rollback(ctx))
	}
	swept := make(chan error, 1)
	go func() { swept <- r.kit.Sweep(ctx, r.pools[0], sweepBatch) }()
	ended, sweepErr := r.sweptOrBlocked(swept)
	err = tx.Commit(ctx)
	if !ended {
		sweepErr = <-swept
	}
	var left int64
	row := r.pool.QueryRow(ctx, "SELECT count(*) FROM idem.keys WHERE scope = 'idemtest'")
	if err := errors.Join(err, sweepErr, row.Scan(&left)); err != nil {
		return err
	}
	if left != rows {
		return fmt.Errorf("%d of %d were deleted", rows-left, rows)
	}
	return nil
}

// sweptOrBlocked returns when the sweep has ended, or waits for a lock.
func (r *rig) sweptOrBlocked(swept chan error) (ended bool, err error) {
	for {
		select {
		case err := <-swept:
			return true, err
		default:
		}
		var blocked bool
		row := r.pool.QueryRow(context.Background(), fmt.Sprintf(clients, "> 0")+"wait_event_type = 'Lock'")
		if err := row.Scan(&blocked); err != nil || blocked {
			return false, err
		}
	}
}

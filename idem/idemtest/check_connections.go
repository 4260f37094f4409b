package idemtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const connectionsCheck = "connections"

// connections checks what the requests have left on the connections of the
// service: no setting, no lock that outlives its transaction.
func (r *rig) connections() error {
	if err := r.quiesce(); err != nil {
		return err
	}
	var locks int64
	err := r.pool.QueryRow(context.Background(), `SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&locks)
	if err == nil && locks > 0 {
		err = fmt.Errorf("%d advisory locks are still held", locks)
	}
	for _, pool := range r.pools {
		err = errors.Join(err, cleanConnections(pool))
	}
	return err
}

// sessionSettings are what was SET in a session, and not for a transaction only.
const sessionSettings = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"

// cleanConnections compares the idle connections of a pool with a new one.
func cleanConnections(pool *pgxpool.Pool) error {
	ctx := context.Background()
	idle := pool.AcquireAllIdle(ctx)
	defer func() {
		for _, c := range idle {
			c.Release()
		}
	}()
	fresh, err := newSettings(ctx, pool)
	if err != nil {
		return err
	}
	for _, c := range idle {
		found, err := settings(ctx, c)
		if err != nil {
			return err
		}
		for name, value := range found {
			if was, ok := fresh[name]; !ok || was != value {
				return fmt.Errorf("a connection is left with %s = %q", name, value)
			}
		}
	}
	return nil
}

// newSettings are those of a connection that no request has had.
func newSettings(ctx context.Context, pool *pgxpool.Pool) (map[string]string, error) {
	config := pool.Config()
	config.MaxConns = 1
	other, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	c, err := other.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	return settings(ctx, c)
}

func settings(ctx context.Context, c *pgxpool.Conn) (map[string]string, error) {
	// A pooler may know nothing of prepared statements.
	rows, err := c.Query(ctx, sessionSettings, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	var name, value string
	for rows.Next() {
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		found[name] = value
	}
	return found, rows.Err()
}

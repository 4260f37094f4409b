package idemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lifetime: a success is kept for its time, counted by the database's clock.
func lifetime(p *probe) error {
	if p.op.Kept.Success == 0 {
		return skip("it is not known how long a success is kept: set Kept")
	}
	t, err := p.trial()
	if err != nil {
		return err
	}
	return p.keptFor(p.op.Kept.Success, func() error {
		_, err := t.first()
		return err
	})
}

// keptFor says whether the record that is made by a request expires when it
// should.
func (p *probe) keptFor(keep time.Duration, request func() error) error {
	before, err := p.now()
	if err != nil {
		return err
	}
	if err := request(); err != nil {
		return err
	}
	after, err := p.now()
	if err != nil {
		return err
	}
	return p.keptWithin(keep, before, after)
}

// keptWithin says whether the newest record, made between two times of the
// database's clock, expires when it should.
func (r *rig) keptWithin(keep time.Duration, before, after time.Time) error {
	at, err := r.lastExpiry()
	if err == nil && (at.Before(before.Add(keep)) || at.After(after.Add(keep))) {
		return fmt.Errorf("the record expires after %s, want %s", at.Sub(after).Round(time.Second), keep)
	}
	return err
}

// now is what the database's clock says.
func (r *rig) now() (at time.Time, err error) {
	err = r.pool.QueryRow(context.Background(), "SELECT clock_timestamp()").Scan(&at)
	return at, err
}

// skewed are functions that stand in for the database's clock, in sessions that
// have their schema ahead of pg_catalog.
const skewed = `
CREATE TABLE idemtest.skew (ahead interval NOT NULL);
INSERT INTO idemtest.skew VALUES ('0');
CREATE SCHEMA idemtest_clock;
GRANT USAGE ON SCHEMA idemtest_clock TO PUBLIC;
CREATE FUNCTION idemtest_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog
  AS 'SELECT pg_catalog.clock_timestamp() + s.ahead FROM idemtest.skew s';
CREATE FUNCTION idemtest_clock.now() RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
  AS 'SELECT pg_catalog.now() + s.ahead FROM idemtest.skew s';
`

// skewedHandler is the service in a process that disagrees with its database
// about the time; or why there is none.
func (r *rig) skewedHandler(t testing.TB) (http.Handler, error) {
	ctx := context.Background()
	if _, err := r.pool.Exec(ctx, skewed); err != nil {
		return nil, err
	}
	var path string
	if err := r.pools[0].QueryRow(ctx, "SHOW search_path", pgx.QueryExecModeSimpleProtocol).Scan(&path); err != nil {
		return nil, err
	}
	ahead := func(config *pgxpool.Config) {
		config.ConnConfig.RuntimeParams["search_path"] = "idemtest_clock, pg_catalog, " + path
	}
	pool := r.open(t, ahead)
	if isSkewed(ctx, pool) != nil {
		pool = Open(t, r.kit.URL, ahead) // a pooler may be in between that takes no search_path
	}
	if err := isSkewed(ctx, pool); err != nil {
		return nil, err
	}
	return r.kit.Handler(t, pool), nil
}

// isSkewed says why the sessions of a pool have the real clock.
func isSkewed(ctx context.Context, pool *pgxpool.Pool) error {
	const sql = "SELECT 'clock_timestamp'::regproc = 'idemtest_clock.clock_timestamp'::regproc"
	var found bool
	err := pool.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&found)
	if err == nil && !found {
		err = errors.New("their search_path is fixed")
	}
	return err
}

// databaseClock: whether a record has expired is for the database's clock to
// say, not for the service's.
func databaseClock(p *probe) error {
	if p.offClock == nil {
		return skip(p.noOffClock)
	}
	err := p.byClock("2 hours", "1 hour", func(t *trial, _ answer) error {
		return t.ranAgain(t.send(p.offClock, t.key))
	})
	if err != nil {
		return fmt.Errorf("a record that has expired by the database's clock alone: %w", err)
	}
	err = p.byClock("-2 hours", "-1 hour", func(t *trial, first answer) error {
		return errors.Join(t.send(p.offClock, t.key).repeats(p.op, first), t.happened(1))
	})
	if err != nil {
		return fmt.Errorf("a record that has expired by the service's clock alone: %w", err)
	}
	return nil
}

// byClock makes a record that expires after the given time, and lets a request
// meet it while the database's clock is ahead.
func (p *probe) byClock(ahead, expires string, meet func(*trial, answer) error) error {
	t, first, err := p.done()
	if err != nil {
		return err
	}
	ctx := context.Background()
	_, err = p.pool.Exec(ctx, "UPDATE idem.keys SET expires_at = clock_timestamp() + $1::text::interval", expires)
	if err != nil {
		return err
	}
	if _, err := p.pool.Exec(ctx, "UPDATE idemtest.skew SET ahead = $1::text::interval", ahead); err != nil {
		return err
	}
	err = meet(t, first)
	_, reset := p.pool.Exec(ctx, "UPDATE idemtest.skew SET ahead = '0'")
	return errors.Join(err, reset)
}

package idemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rig is a service under test: two instances of it, and a pool to watch from.
type rig struct {
	kit      *Kit
	by       *protocol
	pool     *pgxpool.Pool    // the kit's own
	pools    [2]*pgxpool.Pool // of the instances
	handlers [2]http.Handler
	// offClock is of a process whose clock differs from the database's; nil for
	// the reason noOffClock.
	offClock   http.Handler
	noOffClock string
	cut        *Cutter // of the first instance
	subjects   atomic.Int64
	// deferred: tables without a trigger that fails at the commit, by the reason.
	deferred map[string]error
	// longestWait is how long a copy of a running request is waited for.
	longestWait time.Duration
}

func newRig(t testing.TB, kit *Kit) *rig {
	t.Helper()
	if kit.Duplicates == 0 {
		kit.Duplicates = 32
	}
	if kit.Patience == 0 {
		kit.Patience = 20 * time.Second
	}
	by, err := protocolOf(kit.Profile, kit.OwnProblems)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	r := &rig{kit: kit, by: by, cut: &Cutter{}, pool: Open(t, kit.URL, nil), deferred: map[string]error{}, longestWait: 5 * time.Second}
	if err := r.instrument(); err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	for i := range r.handlers {
		r.pools[i] = r.open(t, func(config *pgxpool.Config) {
			if i == 0 {
				r.cut.Watch(config)
			}
		})
		r.handlers[i] = kit.Handler(t, r.pools[i])
	}
	if r.offClock, err = r.skewedHandler(t); err != nil {
		r.noOffClock = "the service's sessions can't be given another clock: " + err.Error()
	}
	return r
}

// open makes a pool of the service.
func (r *rig) open(t testing.TB, change func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return Open(t, r.kit.URL, func(config *pgxpool.Config) {
		config.MaxConns = 8
		change(config)
		if r.kit.Connect != nil {
			r.kit.Connect(config)
		}
	})
}

// The tables of the kit. A fault is for all writes of the tables that are
// watched: a database is one test's.
const instruments = `
CREATE SCHEMA idemtest;
CREATE TABLE idemtest.effects (id bigint GENERATED ALWAYS AS IDENTITY, relation oid NOT NULL);
CREATE TABLE idemtest.fault (kind text NOT NULL);
INSERT INTO idemtest.fault VALUES ('');
CREATE SEQUENCE idemtest.tries;
CREATE FUNCTION idemtest.effect() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE kind text := (SELECT f.kind FROM idemtest.fault f);
BEGIN
  INSERT INTO idemtest.effects (relation) VALUES (TG_RELID);
  IF kind = 'statement' THEN
    RAISE EXCEPTION 'a fault of the conformance kit' USING ERRCODE = 'XX000';
  END IF;
  IF kind = 'gate' THEN
    PERFORM pg_advisory_xact_lock_shared(1768187245, 1952805748);
  END IF;
  IF kind = 'serializations' OR kind = 'serialization' AND nextval('idemtest.tries') = 1 THEN
    RAISE EXCEPTION 'a fault of the conformance kit' USING ERRCODE = '40001';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION idemtest.commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF (SELECT f.kind FROM idemtest.fault f) = 'commit' THEN
    RAISE EXCEPTION 'a fault of the conformance kit' USING ERRCODE = 'XX000';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION idemtest.record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF NEW.status <> 0 AND (SELECT f.kind FROM idemtest.fault f) = 'record' THEN
    RAISE EXCEPTION 'a fault of the conformance kit' USING ERRCODE = 'XX000';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER idemtest_record AFTER INSERT OR UPDATE ON idem.keys FOR EACH ROW EXECUTE FUNCTION idemtest.record();
`

// instrument adds what counts effects and makes faults.
func (r *rig) instrument() error {
	ctx := context.Background()
	if _, err := r.pool.Exec(ctx, instruments); err != nil {
		return fmt.Errorf("instrument the database: %w", err)
	}
	watched := map[string]bool{}
	for _, op := range r.kit.Operations {
		for _, table := range op.Writes {
			if watched[table] {
				continue
			}
			watched[table] = true
			if err := r.watch(ctx, table); err != nil {
				return fmt.Errorf("operation %s: count the effects in %s (Operation.Count can do it instead): %w", op.Name, table, err)
			}
		}
	}
	return nil
}

func (r *rig) watch(ctx context.Context, table string) error {
	name := sanitize(table)
	_, err := r.pool.Exec(ctx, "CREATE TRIGGER idemtest_effect AFTER INSERT OR UPDATE OR DELETE ON "+name+
		" FOR EACH ROW EXECUTE FUNCTION idemtest.effect()")
	if err != nil {
		return err
	}
	_, r.deferred[table] = r.pool.Exec(ctx, "CREATE CONSTRAINT TRIGGER idemtest_commit AFTER INSERT OR UPDATE OR DELETE ON "+name+
		" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION idemtest.commit()")
	return nil
}

// sanitize quotes schema.table.
func sanitize(table string) string {
	return pgx.Identifier(strings.SplitN(table, ".", 2)).Sanitize()
}

// fault makes the watched tables fail until it is called with "".
func (r *rig) fault(kind string) error {
	_, err := r.pool.Exec(context.Background(), "UPDATE idemtest.fault SET kind = $1", kind)
	if err == nil {
		_, err = r.pool.Exec(context.Background(), "ALTER SEQUENCE idemtest.tries RESTART")
	}
	return err
}

// records is the number of keys that are claimed or recorded.
func (r *rig) records() (n int64, err error) {
	err = r.pool.QueryRow(context.Background(), "SELECT count(*) FROM idem.keys").Scan(&n)
	return n, err
}

// hold keeps a table from being written until release is called.
func (r *rig) hold(table string) (release func(), err error) {
	ctx := context.Background()
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE "+sanitize(table)+" IN SHARE MODE"); err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return func() { _ = tx.Rollback(ctx) }, nil // of a lock only: a lost connection frees it too
}

// await asks the database until a query says true.
func (r *rig) await(what, query string) error {
	deadline := time.Now().Add(r.kit.Patience)
	for time.Now().Before(deadline) {
		var done bool
		if err := r.pool.QueryRow(context.Background(), query).Scan(&done); err != nil || done {
			return err
		}
		runtime.Gosched()
	}
	return fmt.Errorf("after %s: %s", r.kit.Patience, what)
}

const clients = "SELECT count(*) %s FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND "

// awaitBlocked returns when somebody waits for a lock.
func (r *rig) awaitBlocked() error {
	return r.await("the request does not reach the tables in Writes", fmt.Sprintf(clients, "> 0")+"wait_event_type = 'Lock'")
}

// quiesce returns when no work is left: requests that are gone may go on.
func (r *rig) quiesce() error {
	return r.await("a transaction is still open", fmt.Sprintf(clients, "= 0")+"state <> 'idle'")
}

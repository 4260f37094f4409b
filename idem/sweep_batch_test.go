package idem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// keysInDatabase is SQL that makes n keys which expire after age.
func keysInDatabase(n int, age string) string {
	return fmt.Sprintf(`INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	SELECT 's', decode(md5('%[2]s' || i), 'hex'), 'o', 'k' || i, '', 200, clock_timestamp() + interval '%[2]s' + i * interval '1 millisecond'
	FROM generate_series(1, %[1]d) i`, n, age)
}

// oneConnection is a pool of one connection, which what it does can be asked about.
func oneConnection(t *testing.T, sql ...string) *pgxpool.Pool {
	return idemtest.Open(t, idemtest.URL(t, sql...), func(config *pgxpool.Config) { config.MaxConns = 1 })
}

// A sweep with nothing to do looks at the start of the index, and not at all the
// keys that live: an index is not searched for a volatile function.
func TestSweepOfNothingReadsNothing(t *testing.T) {
	t.Parallel()
	pool := oneConnection(t, keysInDatabase(3000, "1 hour"),
		`INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
		SELECT 's', 'o', 't', 'k' || i, '{}', 'PROCESSED', clock_timestamp() FROM generate_series(1, 3000) i`)
	always := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	queries := map[string]func(*gen.Queries) error{
		"SweepKeys": func(q *gen.Queries) error {
			_, err := q.SweepKeys(t.Context(), gen.SweepKeysParams{After: always, Batch: 1000})
			return err
		},
		"SweepEvents": func(q *gen.Queries) error {
			_, err := q.SweepEvents(t.Context(), gen.SweepEventsParams{After: always, Batch: 1000, Keep: pgtype.Interval{Days: 7, Valid: true}})
			return err
		},
		"OldestOverdue": func(q *gen.Queries) error {
			_, err := q.OldestOverdue(t.Context())
			return err
		},
	}
	for name, query := range queries {
		var read int64
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			q := gen.New(unnamed{tx})
			return errors.Join(
				q.LimitSweep(t.Context(), gen.LimitSweepParams{LockTimeout: "1s", StatementTimeout: "10s"}),
				query(q),
				tx.QueryRow(t.Context(), `SELECT sum(pg_stat_get_xact_tuples_returned(oid)) FROM pg_class
					WHERE relnamespace = 'idem'::regnamespace`).Scan(&read))
		})
		if err != nil || read > 1 {
			t.Errorf("%s reads %d rows or entries of an index: %v", name, read, err)
		}
	}
}

// What earlier batches deleted stays in the index for as long as a transaction
// can see it. Each batch begins behind it.
func TestSweepBesideALongTransaction(t *testing.T) {
	t.Parallel()
	pool := oneConnection(t, keysInDatabase(2000, "-1 hour"))
	url := pool.Config().ConnString()
	old, err := idemtest.Open(t, url, nil).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Rollback(t.Context()) }()
	var version int
	if err := old.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int FROM pg_class LIMIT 1").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version < 150000 {
		t.Skip("statistics can't be flushed at will before PostgreSQL 15")
	}
	swept, err := (&Sweeper{Pool: pool, Batch: 100}).Sweep(t.Context())
	if err != nil || swept.Keys != 2000 || swept.Rounds != 22 {
		t.Fatalf("%+v %v", swept, err)
	}
	s := &shop{pool: pool}
	s.exec(t, "SELECT pg_stat_force_next_flush()")
	// Twice 2000 would be fine too. From the start each time it is 21,000.
	if n := s.count(t, "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'keys_expires_at'"); n < 2000 || n > 5000 {
		t.Errorf("%d entries of the index were read for 2000 keys", n)
	}
}

// refuseLarge is SQL that makes PostgreSQL refuse to delete more than 25 keys at
// once, as a timeout would.
func refuseLarge(code string) string {
	return `CREATE FUNCTION large() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF (SELECT count(*) FROM gone) > 25 THEN RAISE EXCEPTION 'too slow' USING ERRCODE = '` + code + `'; END IF;
		RETURN NULL;
	END $$;
	CREATE TRIGGER large AFTER DELETE ON idem.keys REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION large()`
}

// A batch that takes too long is tried again with half as many rows; any other
// error ends the sweep, and what was done before it is said.
func TestSweepShrinksItsBatches(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"57014", "55P03", "40P01"} {
		pool := idemtest.Pool(t, keysInDatabase(110, "-1 hour"), refuseLarge(code))
		swept, err := (&Sweeper{Pool: pool, Batch: 100}).Sweep(t.Context())
		if err != nil || swept.Keys != 110 || swept.Overdue != 0 {
			t.Errorf("%s: %+v %v", code, swept, err)
		}
	}
	pool := idemtest.Pool(t, keysInDatabase(110, "-1 hour"), refuseLarge("XX000"))
	swept, err := (&Sweeper{Pool: pool, Batch: 100}).Sweep(t.Context())
	if err == nil || swept.Keys != 0 || swept.Rounds != 1 || !strings.HasPrefix(err.Error(), "idem: sweep: ") {
		t.Errorf("%+v %v", swept, err)
	}
	swept, err = (&Sweeper{Pool: pool, Batch: 20}).Sweep(t.Context())
	if err != nil || swept.Keys != 110 {
		t.Errorf("%+v %v", swept, err)
	}
}

// A table that is locked ends the sweep by lock timeout. Timeouts and planner
// settings are the transaction's: the connection is as it was.
func TestSweepLeavesNoSettings(t *testing.T) {
	t.Parallel()
	pool := oneConnection(t, keysInDatabase(10, "-1 hour"))
	url := pool.Config().ConnString()
	settings := func() (text string) {
		t.Helper()
		err := pool.QueryRow(t.Context(), `SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')
			|| ' ' || current_setting('enable_sort')`).Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := settings()
	end := hold(t, idemtest.Open(t, url, nil), "LOCK TABLE idem.keys")
	sweeper := &Sweeper{Pool: pool, Batch: 40, LockTimeout: time.Millisecond}
	swept, err := sweeper.Sweep(t.Context())
	var pgError *pgconn.PgError
	if !errors.As(err, &pgError) || pgError.Code != "55P03" || swept.Rounds != 3 { // 40, 20, 10
		t.Errorf("%+v %v", swept, err)
	}
	end(false)
	if swept, err = sweeper.Sweep(t.Context()); err != nil || swept.Keys != 10 {
		t.Errorf("%+v %v", swept, err)
	}
	if after := settings(); after != before {
		t.Errorf("%s after a sweep, %s before", after, before)
	}
}

// Pitfall 20: isolation is not inherited.
func TestSweepStatesItsIsolation(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, keysInDatabase(3, "-1 hour"), `CREATE TABLE seen (level text);
		CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO seen VALUES (current_setting('transaction_isolation')); RETURN NULL;
		END $$;
		CREATE TRIGGER see AFTER DELETE ON idem.keys FOR EACH STATEMENT EXECUTE FUNCTION see();
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$`)
	if swept, err := (&Sweeper{Pool: pool}).Sweep(t.Context()); err != nil || swept.Keys != 3 {
		t.Errorf("%+v %v", swept, err)
	}
	var levels string
	if err := pool.QueryRow(t.Context(), "SELECT string_agg(DISTINCT level, ',') FROM seen").Scan(&levels); err != nil || levels != "read committed" {
		t.Errorf("%s: %v", levels, err)
	}
}

// Sweepers side by side share the work: each key is deleted, and counted, once.
func TestSweepersSideBySide(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, keysInDatabase(3000, "-1 hour"), keysInDatabase(50, "1 hour"))
	var wg sync.WaitGroup
	results := make([]Swept, 4)
	errs := make([]error, len(results))
	for i := range results {
		wg.Go(func() { results[i], errs[i] = (&Sweeper{Pool: pool, Batch: 50}).Sweep(t.Context()) })
	}
	wg.Wait()
	last, err := (&Sweeper{Pool: pool}).Sweep(t.Context()) // what was locked while the others went by
	deleted := last.Keys
	for _, swept := range results {
		deleted += swept.Keys
	}
	if err := errors.Join(append(errs, err)...); err != nil || deleted != 3000 || last.Overdue != 0 {
		t.Errorf("%d were deleted: %v", deleted, err)
	}
	if n := (&shop{pool: pool}).count(t, "SELECT count(*) FROM idem.keys"); n != 50 {
		t.Errorf("%d are left", n)
	}
}

// After each full batch the sweeper rests for a multiple of the time that it
// took, at first; one that goes on for half an hour does not rest any more.
func TestSweepRestsBetweenFullBatches(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, keysInDatabase(110, "-1 hour"))
	var rests []time.Duration
	note := func(_ context.Context, d time.Duration) error {
		rests = append(rests, d)
		return nil
	}
	swept, err := (&Sweeper{Pool: pool, Batch: 50, Rest: 1000, pause: note}).Sweep(t.Context())
	if err != nil || swept.Keys != 110 || len(rests) != 2 || slices.Min(rests) < 20*time.Millisecond {
		t.Errorf("%+v %v; rests: %v", swept, err, rests)
	}
	for _, c := range []struct {
		rest         float64
		sweep, wants time.Duration
	}{
		{0, 0, 7 * time.Second}, {3, 0, 3 * time.Second}, {0, 15 * time.Minute, 3500 * time.Millisecond},
		{0, 30 * time.Minute, 0}, {0, 5 * time.Hour, 0}, {-1, 0, 0},
	} {
		if got := (&Sweeper{Rest: c.rest}).orDefault().restAfter(time.Second, c.sweep); got != c.wants {
			t.Errorf("Rest %v, after %s: rests %s, want %s", c.rest, c.sweep, got, c.wants)
		}
	}
}

// A sweeper that rests ends at once with its context, and says what it did.
func TestSweepEndsInItsRest(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, keysInDatabase(110, "-1 hour"))
	ctx, cancel := context.WithCancel(t.Context())
	sweeper := &Sweeper{Pool: pool, Batch: 50, pause: func(ctx context.Context, _ time.Duration) error {
		cancel()
		return rest(ctx, time.Hour)
	}}
	if swept, err := sweeper.Sweep(ctx); !errors.Is(err, context.Canceled) || swept.Keys != 50 {
		t.Errorf("%+v %v", swept, err)
	}
}

package idem

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// countBatches keeps how many events each statement deletes.
const countBatches = `CREATE TABLE batches (n bigint);
	CREATE FUNCTION count_batch() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO batches SELECT count(*) FROM gone; RETURN NULL; END $$;
	CREATE TRIGGER count_batch AFTER DELETE ON idem.outbox REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_batch()`

// 105 that were processed long ago, and one of each that stays.
const oldEvents = `DELETE FROM idem.outbox; TRUNCATE batches;
	INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
	SELECT 's', 'o', 't', 'k' || i, '{}', 'PROCESSED', clock_timestamp() - interval '2 hours' - i / 3 * interval '1 s' FROM generate_series(1, 105) i;
	INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
	VALUES ('s', 'o', 't', 'young', '{}', 'PROCESSED', clock_timestamp()), ('s', 'o', 't', 'dead', '{}', 'DEAD', '-infinity'), ('s', 'o', 't', 'new', '{}', 'PENDING', NULL)`

// Pitfall 26, of events: the limit of a batch holds under every plan, and the
// batches end.
func TestPitfall_26_ABatchOfEventsIsABatch(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t, countBatches)
	s := &shop{pool: idemtest.Open(t, url, nil)}
	for _, off := range []string{"jit", "enable_hashjoin enable_mergejoin enable_material enable_hashagg enable_sort", "enable_hashjoin enable_mergejoin enable_material",
		"enable_nestloop enable_mergejoin", "enable_nestloop enable_hashjoin", "enable_indexscan enable_bitmapscan"} {
		s.exec(t, oldEvents)
		pool := idemtest.Open(t, url, func(c *pgxpool.Config) {
			c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
				// Plans that are switched off count as dear, and would be compiled.
				_, err := conn.Exec(ctx, "SELECT set_config(unnest(string_to_array('jit ' || $1, ' ')), 'off', false)", off)
				return err
			}
		})
		swept, err := (&Sweeper{Pool: pool, Batch: 10, Events: time.Hour}).Sweep(t.Context())
		if err != nil || swept.Events != 105 || swept.Rounds != 12 { // 11 and one for the keys
			t.Errorf("without %q: %+v %v", off, swept, err)
		}
		if n := s.count(t, "SELECT max(n) FROM batches"); n != 10 {
			t.Errorf("without %q: %d in one batch", off, n)
		}
		if n := s.count(t, "SELECT count(*) FROM idem.outbox WHERE key IN ('young', 'dead', 'new')"); n != 3 {
			t.Errorf("without %q: %d of the others are left", off, n)
		}
		if n := s.count(t, "SELECT count(*) FROM idem.outbox"); n != 3 {
			t.Errorf("without %q: %d are left", off, n)
		}
	}
}

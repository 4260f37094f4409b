-- idemgen: sweep 1 */5 * * * *
-- Deletes expired keys in the database, where pg_cron runs it. It does what
-- `idemgen sweep` does, and may run beside that, beside services and by hand:
--
--   CALL idem.sweep();
--
-- Where pg_cron is in another database of the server, this migration schedules
-- nothing. Run there, once:
--
--   SELECT cron.schedule_in_database('idemgen_sweep', '*/5 * * * *', 'CALL idem.sweep()', 'DATABASE');

-- +goose Up
-- +goose StatementBegin
-- Each batch is a transaction: at READ COMMITTED, and with settings of its own.
-- A statement_timeout counts for the whole call, so a batch that takes over a
-- second is followed by one of half the size. After a full batch it rests for rest
-- times as long as that took, so that traffic hardly notices; over the first half
-- hour the rests shrink to none.
CREATE OR REPLACE PROCEDURE idem.sweep(batch integer DEFAULT 1000, keep interval DEFAULT '7 days', rest double precision DEFAULT 7)
  LANGUAGE plpgsql AS $$
DECLARE
  size integer;
  since timestamptz;
  started timestamptz := clock_timestamp();
  began timestamptz;
  took interval;
  deleted bigint;
  last timestamptz;
BEGIN
  IF batch IS NULL OR batch < 1 THEN -- it would never come to an end
    RAISE EXCEPTION 'idem.sweep: batch is %, and must be at least 1; CALL idem.sweep() takes 1000', coalesce(batch::text, 'NULL')
      USING ERRCODE = '22023';
  END IF;
  size := batch;
  since := '-infinity';
  LOOP
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM set_config('lock_timeout', '100ms', true), set_config('enable_sort', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true);
    began := clock_timestamp();
    WITH victim AS MATERIALIZED (
      SELECT k.scope, k.digest FROM idem.keys k
      WHERE k.expires_at >= since::timestamptz AND k.expires_at <= (SELECT clock_timestamp())
      ORDER BY k.expires_at
      LIMIT size::integer
      FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM idem.keys k USING victim v
      WHERE k.scope = v.scope AND k.digest = v.digest AND k.expires_at <= clock_timestamp()
      RETURNING k.expires_at AS at
    )
    SELECT count(*) AS deleted, coalesce(max(g.at), since::timestamptz)::timestamptz AS last INTO deleted, last FROM gone g;
    COMMIT;
    EXIT WHEN deleted < size;
    took := clock_timestamp() - began;
    since := last;
    size := CASE WHEN took > interval '1 second' THEN greatest(least(batch, 10), size / 2) ELSE least(batch, size * 2) END;
    PERFORM pg_sleep(greatest(0, rest * extract(epoch FROM took) * (1 - extract(epoch FROM began - started) / 1800)));
  END LOOP;
  size := batch;
  since := '-infinity';
  LOOP
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM set_config('lock_timeout', '100ms', true), set_config('enable_sort', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true);
    began := clock_timestamp();
    WITH victim AS MATERIALIZED (
      SELECT o.scope, o.id FROM idem.outbox o
      WHERE o.status = 'PROCESSED'
        AND o.processed_at >= since::timestamptz AND o.processed_at <= (SELECT clock_timestamp()) - keep::interval
      ORDER BY o.processed_at
      LIMIT size::integer
      FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM idem.outbox o USING victim v WHERE o.scope = v.scope AND o.id = v.id
      RETURNING o.processed_at AS at
    )
    SELECT count(*) AS deleted, coalesce(max(g.at), since::timestamptz)::timestamptz AS last INTO deleted, last FROM gone g;
    COMMIT;
    EXIT WHEN deleted < size;
    took := clock_timestamp() - began;
    since := last;
    size := CASE WHEN took > interval '1 second' THEN greatest(least(batch, 10), size / 2) ELSE least(batch, size * 2) END;
    PERFORM pg_sleep(greatest(0, rest * extract(epoch FROM took) * (1 - extract(epoch FROM began - started) / 1800)));
  END LOOP;
  size := batch;
  since := '-infinity';
  LOOP
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM set_config('lock_timeout', '100ms', true), set_config('enable_sort', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true);
    began := clock_timestamp();
    WITH victim AS MATERIALIZED (
      SELECT w.scope, w.digest FROM idem.work w
      WHERE w.expires_at >= since::timestamptz AND w.expires_at <= (SELECT clock_timestamp())
      ORDER BY w.expires_at
      LIMIT size::integer
      FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM idem.work w USING victim v
      WHERE w.scope = v.scope AND w.digest = v.digest AND w.expires_at <= clock_timestamp()
      RETURNING w.expires_at AS at
    )
    SELECT count(*) AS deleted, coalesce(max(g.at), since::timestamptz)::timestamptz AS last INTO deleted, last FROM gone g;
    COMMIT;
    EXIT WHEN deleted < size;
    took := clock_timestamp() - began;
    since := last;
    size := CASE WHEN took > interval '1 second' THEN greatest(least(batch, 10), size / 2) ELSE least(batch, size * 2) END;
    PERFORM pg_sleep(greatest(0, rest * extract(epoch FROM took) * (1 - extract(epoch FROM began - started) / 1800)));
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Not everywhere where migrations run is pg_cron: the procedure is there anyhow.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron') THEN
    PERFORM cron.schedule('idemgen_sweep', '*/5 * * * *', 'CALL idem.sweep()');
  ELSE
    RAISE WARNING 'pg_cron is not in this database: nothing calls idem.sweep() yet';
  END IF;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron') THEN
    PERFORM cron.unschedule(jobid) FROM cron.job WHERE jobname = 'idemgen_sweep';
  END IF;
END
$$;
-- +goose StatementEnd
DROP PROCEDURE IF EXISTS idem.sweep(integer, interval, double precision);

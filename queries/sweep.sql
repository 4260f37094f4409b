-- name: SweepKeys :execrows
-- The victims are locked and materialized first: a plan that runs the LIMIT
-- again per row would delete without bound, and a row claimed anew in the
-- meantime is skipped.
WITH victim AS MATERIALIZED (
  SELECT k.scope, k.digest FROM idem.keys k
  WHERE k.expires_at <= clock_timestamp()
  ORDER BY k.expires_at
  LIMIT @batch::integer
  FOR UPDATE SKIP LOCKED
)
DELETE FROM idem.keys k USING victim v
WHERE k.scope = v.scope AND k.digest = v.digest AND k.expires_at <= clock_timestamp();

-- name: SweepEvents :execrows
WITH victim AS MATERIALIZED (
  SELECT o.scope, o.id FROM idem.outbox o
  WHERE o.status = 'PROCESSED' AND o.processed_at <= clock_timestamp() - @keep::interval
  ORDER BY o.processed_at
  LIMIT @batch::integer
  FOR UPDATE SKIP LOCKED
)
DELETE FROM idem.outbox o USING victim v WHERE o.scope = v.scope AND o.id = v.id;

-- name: OldestOverdue :one
-- Seconds since the expiry of the oldest key that is still there, 0 if none.
SELECT coalesce((
  SELECT greatest(0, extract(epoch FROM clock_timestamp() - k.expires_at))
  FROM idem.keys k WHERE k.expires_at <= clock_timestamp() ORDER BY k.expires_at LIMIT 1
), 0)::float8 AS seconds;

-- name: LimitSweep :exec
SELECT set_config('lock_timeout', @lock_timeout::text, true),
  set_config('statement_timeout', @statement_timeout::text, true);

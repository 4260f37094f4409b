-- name: SweepKeys :one
-- The victims are locked and materialized first: a plan that runs the LIMIT
-- again per row would delete without bound, and a row claimed anew in the
-- meantime is skipped. The time is a sub-select, since an index can't be
-- searched for a volatile function: without it the last batch reads the whole
-- table. The lower bound is where the batch before has ended: what that one
-- deleted is still in the index, for as long as any transaction can see it.
WITH victim AS MATERIALIZED (
  SELECT k.scope, k.digest FROM idem.keys k
  WHERE k.expires_at >= @after::timestamptz AND k.expires_at <= (SELECT clock_timestamp())
  ORDER BY k.expires_at
  LIMIT @batch::integer
  FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM idem.keys k USING victim v
  WHERE k.scope = v.scope AND k.digest = v.digest AND k.expires_at <= clock_timestamp()
  RETURNING k.expires_at AS at
)
SELECT count(*) AS deleted, coalesce(max(g.at), @after::timestamptz)::timestamptz AS last FROM gone g;

-- name: SweepEvents :one
WITH victim AS MATERIALIZED (
  SELECT o.scope, o.id FROM idem.outbox o
  WHERE o.status = 'PROCESSED'
    AND o.processed_at >= @after::timestamptz AND o.processed_at <= (SELECT clock_timestamp()) - @keep::interval
  ORDER BY o.processed_at
  LIMIT @batch::integer
  FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM idem.outbox o USING victim v WHERE o.scope = v.scope AND o.id = v.id
  RETURNING o.processed_at AS at
)
SELECT count(*) AS deleted, coalesce(max(g.at), @after::timestamptz)::timestamptz AS last FROM gone g;

-- name: OldestOverdue :one
-- Seconds since the expiry of the oldest key that is still there, 0 if none.
SELECT coalesce((
  SELECT greatest(0, extract(epoch FROM clock_timestamp() - k.expires_at))
  FROM idem.keys k WHERE k.expires_at <= (SELECT clock_timestamp()) ORDER BY k.expires_at LIMIT 1
), 0)::float8 AS seconds;

-- name: LimitSweep :exec
-- The plan reads the index in order and stops at the limit, whatever the
-- statistics say: a sort would read all that is expired in each batch.
SELECT set_config('lock_timeout', @lock_timeout::text, true),
  set_config('statement_timeout', @statement_timeout::text, true),
  set_config('enable_sort', 'off', true);

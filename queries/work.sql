-- name: FindWork :many
-- The record of a key, or the unfinished work behind it.
SELECT k.status, k.headers::text AS headers, k.body, encode(k.fingerprint, 'hex') AS fingerprint,
  w.event_id::text AS event_id, coalesce(w.held, false) AS held, coalesce(w.owner, '') AS owner,
  coalesce(w.lease_until > clock_timestamp(), w.scope IS NULL) AS leased
FROM idem.keys k LEFT JOIN idem.work w ON w.scope = k.scope AND w.digest = k.digest
WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at > clock_timestamp();

-- name: AcceptWork :many
-- Writes an async operation down, or gives what its key has already. No row: a
-- twin was faster, and this statement did not see it.
WITH idem_lim AS MATERIALIZED (
  SELECT set_config('lock_timeout', @lock_timeout::text, true) AS v
), idem_gone AS (
  DELETE FROM idem.keys k
  WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at <= clock_timestamp()
    AND (SELECT v FROM idem_lim) IS NOT NULL
  RETURNING 1
), idem_new AS (
  INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
  SELECT @scope::text, @digest::bytea, @operation::text, @key::text, @fingerprint::bytea, 0, 'infinity'
  WHERE (SELECT count(*) FROM idem_gone) >= 0
  ON CONFLICT DO NOTHING
  RETURNING 1
), idem_work AS (
  INSERT INTO idem.work (scope, digest, operation, async, event_id, input)
  SELECT @scope::text, @digest::bytea, @operation::text, true, @event_id::uuid, @input::jsonb FROM idem_new
  ON CONFLICT (scope, digest) DO UPDATE SET -- of an expired key
    operation = excluded.operation, async = true, event_id = excluded.event_id, input = excluded.input, results = NULL,
    step = 0, attempt = 0, tries = 0, owner = NULL, lease_until = NULL, due_at = excluded.due_at, held = false,
    reason = NULL, undoing = false, refusal = NULL, created_at = excluded.created_at, expires_at = NULL
  RETURNING event_id
)
SELECT true AS accepted, w.event_id::text AS event_id, NULL::text AS fingerprint, true AS pending FROM idem_work w
UNION ALL
SELECT false, w.event_id::text, encode(k.fingerprint, 'hex'), k.status = 0
FROM idem.keys k LEFT JOIN idem.work w ON w.scope = k.scope AND w.digest = k.digest
WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at > clock_timestamp();

-- name: BeginWork :exec
-- Ends the first transaction of an operation with calls. The advisory lock is held
-- here: an expired row is replaced, a fresh one is an error.
WITH idem_gone AS (
  DELETE FROM idem.keys k
  WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at <= clock_timestamp()
  RETURNING 1
), idem_new AS (
  INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
  SELECT @scope::text, @digest::bytea, @operation::text, @key::text, @fingerprint::bytea, 0, 'infinity'
  WHERE (SELECT count(*) FROM idem_gone) >= 0
  RETURNING 1
)
INSERT INTO idem.work (scope, digest, operation, input, results, step, attempt, owner, lease_until)
SELECT @scope::text, @digest::bytea, @operation::text, @input::jsonb, @results::jsonb, @step::integer, 1, @owner::text,
  clock_timestamp() + @lease::interval
FROM idem_new
ON CONFLICT (scope, digest) DO UPDATE SET -- of an expired key
  operation = excluded.operation, async = false, event_id = NULL, input = excluded.input, results = excluded.results,
  step = excluded.step, attempt = 1, tries = 0, owner = excluded.owner, lease_until = excluded.lease_until,
  due_at = excluded.due_at, held = false, reason = NULL, undoing = false, refusal = NULL,
  created_at = excluded.created_at, expires_at = NULL;

-- name: BeginClaimedWork :exec
-- The same behind ClaimKey, which has made the key row.
WITH idem_new AS (
  UPDATE idem.keys k SET expires_at = 'infinity'
  WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.status = 0
  RETURNING 1
)
INSERT INTO idem.work (scope, digest, operation, input, results, step, attempt, owner, lease_until)
SELECT @scope::text, @digest::bytea, @operation::text, @input::jsonb, @results::jsonb, @step::integer, 1, @owner::text,
  clock_timestamp() + @lease::interval
FROM idem_new
ON CONFLICT (scope, digest) DO UPDATE SET -- of an expired key
  operation = excluded.operation, async = false, event_id = NULL, input = excluded.input, results = excluded.results,
  step = excluded.step, attempt = 1, tries = 0, owner = excluded.owner, lease_until = excluded.lease_until,
  due_at = excluded.due_at, held = false, reason = NULL, undoing = false, refusal = NULL,
  created_at = excluded.created_at, expires_at = NULL;

-- name: TakeWork :many
-- Takes the lease of one operation, where nobody has it. The owner itself may,
-- who does not know whether its last commit happened. A row that is locked is
-- being worked at. Who had it and did not give it back has failed: perhaps the
-- operation ends every process that works at it.
WITH idem_free AS MATERIALIZED (
  SELECT w.scope, w.digest, w.owner AS was FROM idem.work w
  WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.due_at IS NOT NULL AND NOT w.held
    AND (w.lease_until IS NULL OR w.lease_until <= clock_timestamp() OR w.owner = @owner::text)
  FOR UPDATE SKIP LOCKED
)
UPDATE idem.work w SET owner = @owner::text, attempt = w.attempt + 1, lease_until = clock_timestamp() + @lease::interval,
  tries = w.tries + CASE WHEN f.was <> @owner::text THEN 1 ELSE 0 END
FROM idem_free f WHERE w.scope = f.scope AND w.digest = f.digest
RETURNING w.attempt, w.step, w.tries, w.input::text AS input, w.results::text AS results, w.undoing, w.refusal::text AS refusal,
  coalesce(f.was, '') AS was, w.due_at > clock_timestamp() AS early;

-- name: PickWork :many
-- Takes the leases of operations that are due and that nobody works at: of each
-- operation by the index, so that what other services leave behind is not read. The
-- victims are locked and materialized first: the LIMIT must not run again per row. What
-- is locked and not among the first is free again at the commit.
WITH idem_free AS MATERIALIZED (
  SELECT v.scope, v.digest, v.was FROM unnest(@operations::text[]) AS o (name)
  CROSS JOIN LATERAL (
    SELECT w.scope, w.digest, w.owner AS was, greatest(w.due_at, w.lease_until) AS due FROM idem.work w
    WHERE w.operation = o.name AND w.due_at IS NOT NULL AND NOT w.held
      AND greatest(w.due_at, w.lease_until) <= (SELECT clock_timestamp())
      AND EXISTS (SELECT FROM idem.keys k WHERE k.scope = w.scope AND k.digest = w.digest)
    ORDER BY greatest(w.due_at, w.lease_until)
    LIMIT @batch::integer
    FOR UPDATE OF w SKIP LOCKED
  ) v
  ORDER BY v.due
  LIMIT @batch::integer
)
UPDATE idem.work w SET owner = @owner::text, attempt = w.attempt + 1, lease_until = clock_timestamp() + @lease::interval,
  tries = w.tries + CASE WHEN f.was <> @owner::text THEN 1 ELSE 0 END
FROM idem_free f JOIN idem.keys k ON k.scope = f.scope AND k.digest = f.digest
WHERE w.scope = f.scope AND w.digest = f.digest
RETURNING w.attempt, w.step, w.tries, w.input::text AS input, w.results::text AS results, w.undoing, w.refusal::text AS refusal,
  coalesce(f.was, '') AS was, w.scope, w.operation, k.key, encode(k.fingerprint, 'hex') AS fingerprint;

-- name: LockWork :many
-- The fence of all that is written: no row, and this owner is late.
SELECT w.step FROM idem.work w
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.owner = @owner::text AND w.attempt = @attempt::integer
  AND w.step = @step::integer AND w.due_at IS NOT NULL
FOR UPDATE;

-- name: ProgressWork :execrows
UPDATE idem.work w SET step = @next::integer, results = @results::jsonb, tries = 0, due_at = clock_timestamp(),
  lease_until = clock_timestamp() + @lease::interval
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.owner = @owner::text AND w.attempt = @attempt::integer
  AND w.step = @step::integer AND w.due_at IS NOT NULL;

-- name: UndoWork :execrows
-- The operation is refused: from here on, its calls are taken back.
UPDATE idem.work w SET undoing = true, refusal = @refusal::jsonb, step = @next::integer, results = @results::jsonb, tries = 0,
  due_at = clock_timestamp(), lease_until = clock_timestamp() + @lease::interval
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.owner = @owner::text AND w.attempt = @attempt::integer
  AND w.step = @step::integer AND w.due_at IS NOT NULL;

-- name: FinishWork :execrows
-- Records the answer. The work of a call is gone with it; that of an async
-- operation stays for its status, for as long as the record.
WITH idem_mine AS MATERIALIZED (
  SELECT w.scope, w.digest, clock_timestamp() + @keep::interval AS expires_at FROM idem.work w
  WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.owner = @owner::text AND w.attempt = @attempt::integer
    AND w.step = @step::integer AND w.due_at IS NOT NULL
  FOR UPDATE
), idem_kept AS (
  UPDATE idem.work w SET due_at = NULL, expires_at = m.expires_at, input = NULL, results = NULL, refusal = NULL, undoing = false,
    owner = NULL, lease_until = NULL, reason = NULL
  FROM idem_mine m WHERE w.scope = m.scope AND w.digest = m.digest AND w.async
), idem_gone AS (
  DELETE FROM idem.work w USING idem_mine m WHERE w.scope = m.scope AND w.digest = m.digest AND NOT w.async
)
UPDATE idem.keys k SET status = @status::smallint, headers = sqlc.narg(headers)::jsonb, body = sqlc.narg(body)::text,
  expires_at = m.expires_at
FROM idem_mine m WHERE k.scope = m.scope AND k.digest = m.digest AND k.status = 0;

-- name: ParkWork :execrows
-- Gives the lease back: to be tried again after a delay, or when it would have been
-- (NULL), or held.
UPDATE idem.work w SET step = @next::integer, results = coalesce(sqlc.narg(results)::jsonb, w.results), tries = w.tries + @tried::integer,
  owner = NULL, lease_until = NULL, due_at = coalesce(clock_timestamp() + sqlc.narg(delay)::interval, w.due_at),
  held = @held::boolean, reason = sqlc.narg(reason)::text
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.owner = @owner::text AND w.attempt = @attempt::integer
  AND w.step = @step::integer AND w.due_at IS NOT NULL;

-- name: ExtendWork :execrows
UPDATE idem.work w SET lease_until = clock_timestamp() + @lease::interval
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.owner = @owner::text AND w.attempt = @attempt::integer
  AND w.due_at IS NOT NULL AND NOT w.held;

-- name: HoldUnknownWork :execrows
-- Work of operations that this service no longer has, so many at a time. Not at once:
-- the one that wrote it may be a newer version, which is still being deployed. The
-- operations that there are take a probe of the index each, whosever they are.
WITH RECURSIVE idem_op AS (
  (SELECT w.operation AS name FROM idem.work w WHERE w.due_at IS NOT NULL AND NOT w.held ORDER BY w.operation LIMIT 1)
  UNION ALL
  SELECT (SELECT w.operation FROM idem.work w WHERE w.due_at IS NOT NULL AND NOT w.held AND w.operation > o.name ORDER BY w.operation LIMIT 1)
  FROM idem_op o WHERE o.name IS NOT NULL
), idem_lost AS MATERIALIZED (
  SELECT v.scope, v.digest FROM idem_op o
  CROSS JOIN LATERAL (
    SELECT w.scope, w.digest FROM idem.work w
    WHERE w.operation = o.name AND w.due_at IS NOT NULL AND NOT w.held
      AND greatest(w.due_at, w.lease_until) <= (SELECT clock_timestamp()) - @overdue::interval
    ORDER BY greatest(w.due_at, w.lease_until)
    LIMIT @batch::integer
    FOR UPDATE OF w SKIP LOCKED
  ) v
  WHERE starts_with(o.name, @prefix::text) AND NOT o.name = ANY(@operations::text[])
  LIMIT @batch::integer
)
UPDATE idem.work w SET held = true, owner = NULL, lease_until = NULL, reason = @reason::text
FROM idem_lost l WHERE w.scope = l.scope AND w.digest = l.digest;

-- name: FindAsync :many
SELECT idem.rfc3339(w.created_at) AS created_at, coalesce(w.lease_until > clock_timestamp(), w.held) AS running,
  k.status, k.headers::text AS headers, k.body, encode(k.fingerprint, 'hex') AS fingerprint
FROM idem.work w JOIN idem.keys k ON k.scope = w.scope AND k.digest = w.digest
WHERE w.scope = @scope::text AND w.event_id = @event_id::uuid AND w.operation = @operation::text
  AND k.expires_at > clock_timestamp();

-- name: SweepWork :one
WITH victim AS MATERIALIZED (
  SELECT w.scope, w.digest FROM idem.work w
  WHERE w.expires_at >= @after::timestamptz AND w.expires_at <= (SELECT clock_timestamp())
  ORDER BY w.expires_at
  LIMIT @batch::integer
  FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM idem.work w USING victim v
  WHERE w.scope = v.scope AND w.digest = v.digest AND w.expires_at <= clock_timestamp()
  RETURNING w.expires_at AS at
)
SELECT count(*) AS deleted, coalesce(max(g.at), @after::timestamptz)::timestamptz AS last FROM gone g;

-- name: ListHeld :many
SELECT w.scope, w.operation, k.key, w.async, w.event_id, w.step, w.attempt, w.undoing, coalesce(w.reason, '')::text AS reason, w.created_at
FROM idem.work w JOIN idem.keys k ON k.scope = w.scope AND k.digest = w.digest
WHERE w.held ORDER BY w.created_at LIMIT @most::integer;

-- name: RetryHeld :execrows
-- The operator's word: the call is made again, with the same key.
UPDATE idem.work w SET held = false, reason = NULL, owner = NULL, lease_until = NULL, due_at = clock_timestamp(), tries = 0
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.held;

-- name: RefuseHeld :execrows
-- The operator's word: the step was not done, and never will be. The calls before
-- it are taken back; where that is what could not be done, it is given up. The
-- service that does so makes the problem, in its own form.
UPDATE idem.work w SET held = false, reason = NULL, owner = NULL, lease_until = NULL, due_at = clock_timestamp(), tries = 0,
  undoing = true, step = CASE WHEN w.undoing THEN -1 ELSE w.step - 1 END, refusal = coalesce(w.refusal, '{}')
WHERE w.scope = @scope::text AND w.digest = @digest::bytea AND w.held;

-- name: FindRecord :one
SELECT true AS replayed, k.status, k.headers::text AS headers, k.body, k.fingerprint, k.attempt
FROM idem.keys k
WHERE k.scope = $1 AND k.digest = $2 AND k.status <> 0 AND k.expires_at > clock_timestamp();

-- name: ExpireRecord :exec
-- An expired record makes way; one that was renewed meanwhile stays.
DELETE FROM idem.keys k
WHERE k.scope = $1 AND k.digest = $2 AND k.expires_at <= clock_timestamp();

-- name: InsertRecord :many
WITH idem_lim AS MATERIALIZED (
  SELECT set_config('lock_timeout', @lock_timeout::text, true) AS v
), idem_gone AS (
  DELETE FROM idem.keys k
  WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at <= clock_timestamp()
    AND (SELECT v FROM idem_lim) IS NOT NULL
  RETURNING 1
)
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
SELECT @scope::text, @digest::bytea, @operation::text, @key::text, @fingerprint::bytea,
  @status::smallint, sqlc.narg(headers)::jsonb, sqlc.narg(body)::text, clock_timestamp() + @keep::interval
WHERE (SELECT count(*) FROM idem_gone) >= 0
ON CONFLICT DO NOTHING
RETURNING status;

-- name: FinishRecord :exec
-- The advisory lock is held here: an expired row is replaced, a fresh one is an error.
WITH idem_gone AS (
  DELETE FROM idem.keys k
  WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at <= clock_timestamp()
  RETURNING 1
)
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
SELECT @scope::text, @digest::bytea, @operation::text, @key::text, @fingerprint::bytea,
  @status::smallint, sqlc.narg(headers)::jsonb, sqlc.narg(body)::text, clock_timestamp() + @keep::interval
WHERE (SELECT count(*) FROM idem_gone) >= 0;

-- name: ClaimKey :exec
-- At repeatable read and serializable: the snapshot predates the lock, so the
-- key row comes before the steps, and a duplicate fails here.
-- Expired from the start: a handler that commits on its own leaves no claim that
-- is held for ever.
WITH idem_gone AS (
  DELETE FROM idem.keys k
  WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.expires_at <= clock_timestamp()
  RETURNING 1
)
INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
SELECT @scope::text, @digest::bytea, @operation::text, @key::text, @fingerprint::bytea, 0, clock_timestamp()
WHERE (SELECT count(*) FROM idem_gone) >= 0;

-- name: FinishClaim :execrows
UPDATE idem.keys
SET status = @status::smallint, headers = sqlc.narg(headers)::jsonb, body = sqlc.narg(body)::text,
  expires_at = clock_timestamp() + @keep::interval
WHERE scope = @scope::text AND digest = @digest::bytea AND status = 0;

-- name: RefuseReused :many
-- Behind the lock of a forced run: ends it where the record is that of another
-- request. Fingerprints of other versions count as equal.
SELECT idem.refuse('@reused') AS refused FROM idem.keys k
WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.status <> 0 AND k.expires_at > clock_timestamp()
  AND octet_length(k.fingerprint) = octet_length(@fingerprint::bytea)
  AND substr(k.fingerprint, 1, 1) = substr(@fingerprint::bytea, 1, 1) AND k.fingerprint <> @fingerprint::bytea;

-- name: ReplaceRecord :exec
-- A forced run: the record before it is there until this one takes its place.
INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
VALUES (@scope::text, @digest::bytea, @operation::text, @key::text, @fingerprint::bytea,
  @status::smallint, sqlc.narg(headers)::jsonb, sqlc.narg(body)::text, clock_timestamp() + @keep::interval)
ON CONFLICT (scope, digest) DO UPDATE SET
  fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers, body = excluded.body,
  attempt = k.attempt + 1, created_at = excluded.created_at, expires_at = excluded.expires_at;

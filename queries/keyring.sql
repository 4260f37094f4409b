-- For `idemgen keys`. Pages go by an index and never by an offset; no list reads
-- a body. What does not narrow a search is ''.

-- name: PageKeys :many
-- By the primary key, all scopes.
SELECT k.scope, k.digest, k.operation, k.key, k.status, k.attempt, k.created_at,
  k.expires_at, (k.expires_at <= (SELECT clock_timestamp()))::boolean AS expired, coalesce(octet_length(k.body), 0)::integer AS size
FROM idem.keys k
WHERE (k.scope, k.digest) > (@after_scope::text, @after_digest::bytea)
  AND (@operation::text = '' OR k.operation = @operation::text) AND (@key::text = '' OR k.key = @key::text)
ORDER BY k.scope, k.digest
LIMIT @page::integer;

-- name: PageKeysOfScope :many
SELECT k.scope, k.digest, k.operation, k.key, k.status, k.attempt, k.created_at,
  k.expires_at, (k.expires_at <= (SELECT clock_timestamp()))::boolean AS expired, coalesce(octet_length(k.body), 0)::integer AS size
FROM idem.keys k
WHERE k.scope = @scope::text AND k.digest > @after_digest::bytea
  AND (@operation::text = '' OR k.operation = @operation::text) AND (@key::text = '' OR k.key = @key::text)
ORDER BY k.digest
LIMIT @page::integer;

-- name: PageExpiredKeys :many
-- By expires_at, the oldest first. The time is a sub-select, since an index can't
-- be searched for a volatile function.
SELECT k.scope, k.digest, k.operation, k.key, k.status, k.attempt, k.created_at,
  k.expires_at, true::boolean AS expired, coalesce(octet_length(k.body), 0)::integer AS size
FROM idem.keys k
WHERE k.expires_at >= @after_at::timestamptz AND k.expires_at <= (SELECT clock_timestamp())
  AND (k.expires_at, k.scope, k.digest) > (@after_at::timestamptz, @after_scope::text, @after_digest::bytea)
  AND (NOT @unfinished::boolean OR k.status = 0)
  AND (@scope::text = '' OR k.scope = @scope::text)
  AND (@operation::text = '' OR k.operation = @operation::text) AND (@key::text = '' OR k.key = @key::text)
ORDER BY k.expires_at, k.scope, k.digest
LIMIT @page::integer;

-- name: PageEndlessKeys :many
-- Unfinished work that commits in between: it never expires.
SELECT k.scope, k.digest, k.operation, k.key, k.status, k.attempt, k.created_at,
  k.expires_at, false::boolean AS expired, coalesce(octet_length(k.body), 0)::integer AS size
FROM idem.keys k
WHERE k.expires_at = 'infinity' AND k.status = 0
  AND (k.scope, k.digest) > (@after_scope::text, @after_digest::bytea)
  AND (@scope::text = '' OR k.scope = @scope::text)
  AND (@operation::text = '' OR k.operation = @operation::text) AND (@key::text = '' OR k.key = @key::text)
ORDER BY k.scope, k.digest
LIMIT @page::integer;

-- name: FindKeys :many
-- Of one scope, by digests: one for each operation that may have the key.
SELECT k.scope, k.digest, k.operation, k.key, k.status, k.attempt, k.created_at,
  k.expires_at, (k.expires_at <= clock_timestamp())::boolean AS expired, coalesce(octet_length(k.body), 0)::integer AS size
FROM idem.keys k
WHERE k.scope = @scope::text AND k.digest = ANY (@digests::bytea[])
ORDER BY k.digest;

-- name: ShowKey :one
SELECT encode(k.fingerprint, 'hex')::text AS fingerprint, coalesce(k.headers::text, '')::text AS headers,
  (@with_body::boolean AND k.body IS NOT NULL)::boolean AS has_body,
  coalesce(CASE WHEN @with_body::boolean THEN k.body END, '')::text AS body
FROM idem.keys k
WHERE k.scope = @scope::text AND k.digest = @digest::bytea;

-- name: LockIdentity :one
SELECT pg_try_advisory_xact_lock(@number::bigint) AS free;

-- name: ReleaseKey :execrows
-- Only a claim without an answer: a record stays.
DELETE FROM idem.keys k WHERE k.scope = @scope::text AND k.digest = @digest::bytea AND k.status = 0;

-- name: PurgeKeys :execrows
-- Unfinished work is released, not purged. What an async operation has left for
-- its status goes with the record.
WITH idem_work AS (
  DELETE FROM idem.work w WHERE w.scope = @scope::text AND w.digest = ANY (@digests::bytea[]) AND w.due_at IS NULL
)
DELETE FROM idem.keys k WHERE k.scope = @scope::text AND k.digest = ANY (@digests::bytea[]) AND k.status <> 0;

-- name: PageHeldKeys :many
-- What waits for an operator, the oldest first: created_at is that of the work.
SELECT k.scope, k.digest, k.operation, k.key, k.status, k.attempt, w.created_at,
  k.expires_at, false::boolean AS expired, coalesce(octet_length(k.body), 0)::integer AS size
FROM idem.work w JOIN idem.keys k ON k.scope = w.scope AND k.digest = w.digest
WHERE w.held AND w.created_at >= @after_at::timestamptz
  AND (w.created_at, w.scope, w.digest) > (@after_at::timestamptz, @after_scope::text, @after_digest::bytea)
  AND (@scope::text = '' OR k.scope = @scope::text)
  AND (@operation::text = '' OR k.operation = @operation::text) AND (@key::text = '' OR k.key = @key::text)
ORDER BY w.created_at, w.scope, w.digest
LIMIT @page::integer;

-- name: WorkOfKeys :many
-- The work behind keys of one scope, without what the request brought.
SELECT w.digest, w.async, coalesce(w.event_id::text, '')::text AS event_id, w.step, w.attempt, w.tries,
  coalesce(w.lease_until > clock_timestamp(), false)::boolean AS leased, w.lease_until, w.due_at, w.held, w.undoing,
  coalesce(w.reason, '')::text AS reason
FROM idem.work w
WHERE w.scope = @scope::text AND w.digest = ANY (@digests::bytea[]);

-- name: LockWorkOfKey :many
-- Whoever writes work locks it before the key.
SELECT coalesce(w.lease_until > clock_timestamp(), false)::boolean AS leased
FROM idem.work w
WHERE w.scope = @scope::text AND w.digest = @digest::bytea
FOR UPDATE;

-- name: ReleaseWork :exec
DELETE FROM idem.work w WHERE w.scope = @scope::text AND w.digest = @digest::bytea;

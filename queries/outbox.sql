-- name: ClaimEvents :many
-- Leases due events; see idem.claim_events. In a transaction at READ COMMITTED.
SELECT e.scope, e.id::text AS id, e.operation, e.topic, e.key, e.order_key, e.headers, e.payload,
  e.attempt, e.failures, e.created_at, (e.lease_owner IS NOT NULL)::boolean AS leased
FROM idem.claim_events(@claimer::text, @lease::interval, @patterns::text[], @rooms::integer[]) e;

-- name: RenewLeases :many
SELECT r::text AS id
FROM idem.renew_leases(@lease::interval, @scopes::text[], @ids::text[], @owners::text[], @attempts::integer[]) AS r;

-- name: SettleEvents :many
SELECT s::text AS id
FROM idem.settle_events(@scopes::text[], @ids::text[], @owners::text[], @attempts::integer[], @statuses::text[],
  @waits::bigint[], @failed::integer[], @answers::integer[], @answer_headers::text[], @answer_bodies::text[],
  @reasons::text[], @lasts::boolean[]) AS s;

-- name: FreeEvents :one
-- Lets go the events whose event ahead is gone without having been settled:
-- deleted by hand, for one.
WITH head AS MATERIALIZED (
  SELECT n.scope, n.id FROM idem.outbox n
  WHERE n.status = 'PENDING' AND n.due_at = 'infinity' AND NOT EXISTS (
    SELECT FROM idem.outbox p
    WHERE p.scope = n.scope AND p.topic = n.topic AND p.order_key = n.order_key
      AND p.status <> 'PROCESSED' AND (p.created_at, p.id) < (n.created_at, n.id))
  LIMIT 1000
  FOR UPDATE SKIP LOCKED
), freed AS (
  UPDATE idem.outbox n SET due_at = clock_timestamp() FROM head h WHERE n.scope = h.scope AND n.id = h.id
  RETURNING n.id
)
SELECT count(*) AS freed FROM freed;

-- name: Notify :exec
SELECT pg_notify(@channel::text, @payload::text);

-- name: FindEvent :one
-- How far an event is, for who waits for it.
SELECT o.status, coalesce(o.answer_status, 0)::integer AS answer_status, o.answer_headers, o.answer_body,
  coalesce(o.reason, '')::text AS reason
FROM idem.outbox o WHERE o.scope = @scope::text AND o.key = @key::text;

-- name: RetryEvents :one
-- Makes DEAD events PENDING again, as if they were new, and one that waits for its
-- next try due at once. Not one that is leased, or that waits for another event.
WITH retried AS (
  UPDATE idem.outbox o
  SET status = 'PENDING', due_at = clock_timestamp(), lease_owner = NULL, lease_until = NULL,
    failures = CASE WHEN o.status = 'DEAD' THEN 0 ELSE o.failures END
  WHERE (o.status = 'DEAD' OR @id::text <> '' AND o.status = 'PENDING' AND o.due_at < 'infinity'
      AND (o.lease_until IS NULL OR o.lease_until <= clock_timestamp()))
    AND (@scope::text = '' OR o.scope = @scope::text) AND (@topic::text = '' OR o.topic = @topic::text)
    AND (@id::text = '' OR o.id = nullif(@id::text, '')::uuid)
  RETURNING o.id
)
SELECT count(*) AS changed FROM retried;

-- name: DiscardEvents :one
-- Ends DEAD events, or a PENDING one that nobody has leased, as PROCESSED without
-- a delivery, and lets those behind them go; see idem.settle_events.
WITH discarded AS (
  UPDATE idem.outbox o
  SET status = 'PROCESSED', processed_at = clock_timestamp(), lease_owner = NULL, lease_until = NULL,
    reason = 'discarded' || coalesce(': ' || o.reason, '')
  WHERE (o.status = 'DEAD' OR @id::text <> '' AND o.status = 'PENDING'
      AND (o.lease_until IS NULL OR o.lease_until <= clock_timestamp()))
    AND (@scope::text = '' OR o.scope = @scope::text) AND (@topic::text = '' OR o.topic = @topic::text)
    AND (@id::text = '' OR o.id = nullif(@id::text, '')::uuid)
  RETURNING o.id, o.scope, o.topic, o.order_key
), freed AS (
  UPDATE idem.outbox n SET due_at = CASE WHEN n.due_at = 'infinity' THEN clock_timestamp() ELSE n.due_at END
  FROM (
    SELECT DISTINCT s.scope, s.topic, s.order_key FROM discarded s WHERE s.order_key IS NOT NULL
  ) k CROSS JOIN LATERAL (
    SELECT b.id FROM idem.outbox b
    WHERE b.scope = k.scope AND b.topic = k.topic AND b.order_key = k.order_key
      AND b.status = 'PENDING'
    ORDER BY b.created_at, b.id LIMIT 20
  ) behind
  WHERE n.scope = k.scope AND n.id = behind.id AND n.status = 'PENDING'
    AND NOT EXISTS (SELECT FROM discarded s WHERE s.scope = n.scope AND s.id = n.id)
  RETURNING n.id
)
SELECT (SELECT count(*) FROM discarded) AS changed, (SELECT count(*) FROM freed) AS freed;

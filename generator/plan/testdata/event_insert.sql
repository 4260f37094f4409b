-- fused, 1 round trips

-- statement: keyed
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 amount: body.amount
-- $4 note: body.note
-- $5 scope: whom the key belongs to
-- $6 digest: hash of the operation and the key
-- $7 key: the key
-- $8 fingerprint: digest of the declared inputs
-- $9 event: key of the event: CreatePayment payment.created 1
-- $10 trace: trace context of the request
-- $11 event: key of the event: CreatePayment it's 1
WITH idem_prior AS MATERIALIZED (
  -- The record. An expired one is answered as NULL: it is deleted, and this statement sent again.
  SELECT CASE WHEN k.expires_at > clock_timestamp() THEN true END AS replayed,
    k.status, k.headers, k.body, k.fingerprint
  FROM idem.keys k
  WHERE k.scope = $5 AND k.digest = $6
),

idem_gate AS MATERIALIZED (
  -- The one decision of every write below.
  -- A running twin is waited for so long; the setting ends with the transaction.
  SELECT NOT EXISTS (SELECT FROM idem_prior)
    AND set_config('lock_timeout', '2000ms', true) IS NOT NULL AS open
),

idem_done (id, order_id, amount, note, created_at) AS (
  INSERT INTO payments (tenant_id, order_id, amount, note)
  SELECT $1, $2, $3, $4
  WHERE (SELECT open FROM idem_gate)
  RETURNING id, order_id, amount, note, created_at
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    201::smallint AS status,
    NULL::jsonb AS headers,
    row_to_json(idem_row)::text AS body,
    NULL::bytea AS fingerprint
  FROM idem_done d
  CROSS JOIN LATERAL (
    SELECT
      d.id,
      d.order_id,
      d.amount::text AS amount,
      d.note,
      idem.rfc3339(d.created_at) AS created_at
  ) AS idem_row
),

idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $5, 'shop.CreatePayment', 'payment.created', $9, left(d.order_id::text, 255), $10::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT
        d.id,
        d.order_id,
        d.amount::text AS amount,
        d.note,
        idem.rfc3339(d.created_at) AS created_at
    ) AS idem_row)
  FROM idem_done d
),

idem_event_2 AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $5, 'shop.CreatePayment', 'it''s', $11, NULL, $10::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT d.note, d.id
    ) AS idem_row)
  FROM idem_done d
),

idem_recorded AS (
  -- A twin that won makes this fail on the primary key: all of this statement is undone.
  INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $5, $6, 'shop.CreatePayment', $7, $8, a.status, a.headers,
    CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END,
    clock_timestamp() + interval '24 hours'
  FROM idem_answer a
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a
UNION ALL
SELECT p.replayed, p.status, p.headers, p.body, p.fingerprint
FROM idem_prior p;

-- statement: forced
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 amount: body.amount
-- $4 note: body.note
-- $5 scope: whom the key belongs to
-- $6 digest: hash of the operation and the key
-- $7 key: the key
-- $8 fingerprint: digest of the declared inputs
-- $9 event: key of the event: CreatePayment payment.created 1
-- $10 trace: trace context of the request
-- $11 event: key of the event: CreatePayment it's 1
WITH idem_done (id, order_id, amount, note, created_at) AS (
  INSERT INTO payments (tenant_id, order_id, amount, note)
  VALUES ($1, $2, $3, $4)
  RETURNING id, order_id, amount, note, created_at
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    201::smallint AS status,
    NULL::jsonb AS headers,
    row_to_json(idem_row)::text AS body,
    NULL::bytea AS fingerprint
  FROM idem_done d
  CROSS JOIN LATERAL (
    SELECT
      d.id,
      d.order_id,
      d.amount::text AS amount,
      d.note,
      idem.rfc3339(d.created_at) AS created_at
  ) AS idem_row
),

idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $5, 'shop.CreatePayment', 'payment.created', $9::text || coalesce((SELECT '.' || k.attempt + 1 FROM idem.keys k WHERE k.scope = $5 AND k.digest = $6), ''), left(d.order_id::text, 255), $10::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT
        d.id,
        d.order_id,
        d.amount::text AS amount,
        d.note,
        idem.rfc3339(d.created_at) AS created_at
    ) AS idem_row)
  FROM idem_done d
),

idem_event_2 AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $5, 'shop.CreatePayment', 'it''s', $11::text || coalesce((SELECT '.' || k.attempt + 1 FROM idem.keys k WHERE k.scope = $5 AND k.digest = $6), ''), NULL, $10::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT d.note, d.id
    ) AS idem_row)
  FROM idem_done d
),

idem_recorded AS (
  -- The record before stays until this one takes its place.
  INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $5, $6, 'shop.CreatePayment', $7, $8, a.status, a.headers,
    CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END,
    clock_timestamp() + interval '24 hours'
  FROM idem_answer a
  ON CONFLICT (scope, digest) DO UPDATE SET
    fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers, body = excluded.body,
    attempt = k.attempt + 1, created_at = excluded.created_at, expires_at = excluded.expires_at
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a;

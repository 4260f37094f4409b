-- fused, 1 round trips

-- statement: keyed
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 scope: whom the key belongs to
-- $4 digest: hash of the operation and the key
-- $5 key: the key
-- $6 fingerprint: digest of the declared inputs
-- $7 empty: the problem where no row is found
-- $8 empty_headers: its headers
WITH idem_prior AS MATERIALIZED (
  -- The record. An expired one is answered as NULL: it is deleted, and this statement sent again.
  SELECT CASE WHEN k.expires_at > clock_timestamp() THEN true END AS replayed,
    k.status, k.headers, k.body, k.fingerprint
  FROM idem.keys k
  WHERE k.scope = $3 AND k.digest = $4
),

idem_gate AS MATERIALIZED (
  -- The one decision of every write below.
  -- A running twin is waited for so long; the setting ends with the transaction.
  SELECT NOT EXISTS (SELECT FROM idem_prior)
    AND set_config('lock_timeout', '2000ms', true) IS NOT NULL AS open
),

idem_done (id, status, large, allowed) AS (
  UPDATE payments
  SET status = 'captured'
  WHERE (SELECT open FROM idem_gate) AND (
    tenant_id = $1
    AND order_id = $2 -- OR must not escape
    AND status = 'authorized' OR false
  )
  RETURNING id, status, amount > 100 AS large, amount < 1000 AS allowed
),

idem_answer AS MATERIALIZED (
  -- A requirement that does not hold raises an error where the body is made:
  -- nothing that was written stays.
  SELECT
    false AS replayed,
    (CASE WHEN d.idem_hit IS NULL THEN 409 WHEN d.large THEN 202 ELSE 201 END)::smallint AS status,
    CASE WHEN d.idem_hit IS NULL THEN $8::jsonb ELSE NULL::jsonb END AS headers,
    CASE
      WHEN d.idem_hit IS NULL THEN $7::text
      WHEN d.allowed IS NOT TRUE THEN idem.refuse('allowed')
      ELSE (SELECT row_to_json(idem_row)::text FROM (
        SELECT d.id, d.status
      ) AS idem_row)
    END AS body,
    NULL::bytea AS fingerprint,
    (d.idem_hit IS NOT NULL) AS hit
  FROM idem_gate
  LEFT JOIN (SELECT true AS idem_hit, x.* FROM idem_done x LIMIT 1) d ON true
  WHERE idem_gate.open
),

idem_recorded AS (
  -- A twin that won makes this fail on the primary key: all of this statement is undone.
  INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $3, $4, 'shop.CapturePayment', $5, $6, a.status, a.headers,
    CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END,
    clock_timestamp() + CASE WHEN a.hit THEN interval '24 hours' ELSE interval '2 hours' END
  FROM idem_answer a
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a
UNION ALL
SELECT p.replayed, p.status, p.headers, p.body, p.fingerprint
FROM idem_prior p;

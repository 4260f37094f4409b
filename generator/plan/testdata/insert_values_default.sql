-- fused, 1 round trips

-- statement: keyed
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 amount: body.amount
-- $4 scope: whom the key belongs to
-- $5 digest: hash of the operation and the key
-- $6 key: the key
-- $7 fingerprint: digest of the declared inputs
WITH idem_prior AS MATERIALIZED (
  -- The record. An expired one is answered as NULL: it is deleted, and this statement sent again.
  SELECT CASE WHEN k.expires_at > clock_timestamp() THEN true END AS replayed,
    k.status, k.headers, k.body, k.fingerprint
  FROM idem.keys k
  WHERE k.scope = $4 AND k.digest = $5
),

idem_gate AS MATERIALIZED (
  -- The one decision of every write below.
  -- A running twin is waited for so long; the setting ends with the transaction.
  SELECT NOT EXISTS (SELECT FROM idem_prior)
    AND set_config('lock_timeout', '2000ms', true) IS NOT NULL AS open
),

idem_done (id) AS (
  INSERT INTO payments (tenant_id, order_id, amount) SELECT $1, lower($2), $3 * 2
  WHERE (SELECT open FROM idem_gate)
  RETURNING id
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
    SELECT d.id
  ) AS idem_row
),

idem_recorded AS (
  -- A twin that won makes this fail on the primary key: all of this statement is undone.
  INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
  SELECT $4, $5, 'shop.Odd', $6, $7, a.status, a.headers,
    CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END,
    clock_timestamp() + interval '24 hours'
  FROM idem_answer a
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a
UNION ALL
SELECT p.replayed, p.status, p.headers, p.body, p.fingerprint
FROM idem_prior p;

-- verbatim, 1 round trips: common table expressions of the statement write

-- statement: prior
-- $1 scope: whom the key belongs to
-- $2 digest: hash of the operation and the key
SELECT true AS replayed, k.status, k.headers::text AS headers, k.body, k.fingerprint
FROM idem.keys k
WHERE k.scope = $1 AND k.digest = $2 AND k.expires_at > clock_timestamp();

-- statement: claim
-- $1 scope: whom the key belongs to
-- $2 digest: hash of the operation and the key
-- $3 key: the key
-- $4 fingerprint: digest of the declared inputs
WITH idem_lim AS MATERIALIZED (
  -- How long to wait for a running twin; the setting ends with the transaction.
  SELECT set_config('lock_timeout', '2000ms', true) AS v
),

idem_gone AS (
  -- An expired record makes way; one that was renewed meanwhile stays.
  DELETE FROM idem.keys k
  WHERE k.scope = $1 AND k.digest = $2 AND k.expires_at <= clock_timestamp()
    AND (SELECT v FROM idem_lim) IS NOT NULL
  RETURNING 1
)

INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
SELECT $1, $2, 'shop.PlaceOrder', $3, $4, 0,
  clock_timestamp() + interval '24 hours'
WHERE (SELECT v FROM idem_lim) IS NOT NULL AND (SELECT count(*) FROM idem_gone) >= 0;

-- statement: keyed
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 amount: body.amount
-- $4 items: body.items
-- $5 scope: whom the key belongs to
-- $6 digest: hash of the operation and the key
WITH payment AS (
  INSERT INTO payments (tenant_id, order_id, amount) VALUES ($1, $2, $3) RETURNING id
), line AS (
  INSERT INTO lines (payment_id, sku, qty)
  SELECT payment.id, x.sku, x.qty FROM payment, jsonb_to_recordset($4::jsonb) AS x(sku text, qty int)
  RETURNING sku
),

idem_done (id, "lines.count", "lines.text") AS (
  SELECT payment.id, (SELECT count(*) FROM line) AS "lines.count", 'a
  b' AS "lines.text" FROM payment
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    (CASE WHEN d.idem_hit IS NULL THEN 204 ELSE 201 END)::smallint AS status,
    NULL::jsonb AS headers,
    CASE
      WHEN d.idem_hit IS NULL THEN ''
      ELSE (SELECT row_to_json(idem_row)::text FROM (
        SELECT
          d.id,
          (SELECT row_to_json(idem_row) FROM (
            SELECT d."lines.count" AS count, d."lines.text" AS text
          ) AS idem_row) AS lines
      ) AS idem_row)
    END AS body,
    NULL::bytea AS fingerprint,
    (d.idem_hit IS NOT NULL) AS hit
  FROM (SELECT 1) AS idem_one
  LEFT JOIN (SELECT (SELECT count(*) FROM idem_done) > 0 AS idem_hit, x.* FROM idem_done x LIMIT 1) d ON true
),

idem_recorded AS (
  -- expires_at stays as it is, so no index is touched.
  UPDATE idem.keys k
  SET status = a.status,
    headers = a.headers,
    body = CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END
  FROM idem_answer a
  WHERE k.scope = $5 AND k.digest = $6
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a;

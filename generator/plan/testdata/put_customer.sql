-- fused, 1 round trips

-- statement: keyed
-- $1 tenant_id: caller.tenant_id
-- $2 id: body.id
-- $3 name: body.name
-- $4 scope: whom the key belongs to
-- $5 digest: hash of the operation and the key
-- $6 key: the key
-- $7 fingerprint: digest of the declared inputs
-- $8 empty: the problem where no row is found
-- $9 empty_headers: its headers
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

idem_done (id, name, inserted) AS (
  INSERT INTO customers (tenant_id, id, name) SELECT $1, $2, $3
  WHERE (SELECT open FROM idem_gate)
  ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name
  RETURNING id, name, (xmax = 0) AS inserted
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    (CASE WHEN d.idem_hit IS NULL THEN 409 WHEN d.inserted THEN 201 ELSE 200 END)::smallint AS status,
    CASE WHEN d.idem_hit IS NULL THEN $9::jsonb ELSE NULL::jsonb END AS headers,
    CASE
      WHEN d.idem_hit IS NULL THEN $8::text
      ELSE (SELECT row_to_json(idem_row)::text FROM (
        SELECT d.id, d.name
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
  SELECT $4, $5, 'shop.PutCustomer', $6, $7, a.status, a.headers,
    CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END,
    clock_timestamp() + CASE WHEN a.hit THEN interval '24 hours' ELSE interval '2 hours' END
  FROM idem_answer a
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a
UNION ALL
SELECT p.replayed, p.status, p.headers, p.body, p.fingerprint
FROM idem_prior p;

-- statement: unkeyed
-- $1 tenant_id: caller.tenant_id
-- $2 id: body.id
-- $3 name: body.name
-- $4 empty: the problem where no row is found
-- $5 empty_headers: its headers
WITH idem_done (id, name, inserted) AS (
  INSERT INTO customers (tenant_id, id, name) VALUES ($1, $2, $3)
  ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name
  RETURNING id, name, (xmax = 0) AS inserted
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    (CASE WHEN d.idem_hit IS NULL THEN 409 WHEN d.inserted THEN 201 ELSE 200 END)::smallint AS status,
    CASE WHEN d.idem_hit IS NULL THEN $5::jsonb ELSE NULL::jsonb END AS headers,
    CASE
      WHEN d.idem_hit IS NULL THEN $4::text
      ELSE (SELECT row_to_json(idem_row)::text FROM (
        SELECT d.id, d.name
      ) AS idem_row)
    END AS body,
    NULL::bytea AS fingerprint,
    (d.idem_hit IS NOT NULL) AS hit
  FROM (SELECT 1) AS idem_one
  LEFT JOIN (SELECT true AS idem_hit, x.* FROM idem_done x LIMIT 1) d ON true
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a;

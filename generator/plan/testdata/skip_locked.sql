-- verbatim, 1 round trips: SKIP LOCKED or NOWAIT must come after the claim

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
SELECT $1, $2, 'shop.TakeJob', $3, $4, 0,
  clock_timestamp() + interval '24 hours'
WHERE (SELECT v FROM idem_lim) IS NOT NULL AND (SELECT count(*) FROM idem_gone) >= 0;

-- statement: keyed
-- $1 tenant_id: caller.tenant_id
-- $2 scope: whom the key belongs to
-- $3 digest: hash of the operation and the key
-- $4 empty: the problem where no row is found
-- $5 empty_headers: its headers
WITH idem_done (id) AS (
  UPDATE payments SET status = 'taken' WHERE id = (
    SELECT id FROM payments WHERE tenant_id = $1 AND status = 'authorized' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING id
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    (CASE WHEN d.idem_hit IS NULL THEN 409 ELSE 201 END)::smallint AS status,
    CASE WHEN d.idem_hit IS NULL THEN $5::jsonb ELSE NULL::jsonb END AS headers,
    CASE
      WHEN d.idem_hit IS NULL THEN $4::text
      ELSE (SELECT row_to_json(idem_row)::text FROM (
        SELECT d.id
      ) AS idem_row)
    END AS body,
    NULL::bytea AS fingerprint,
    (d.idem_hit IS NOT NULL) AS hit
  FROM (SELECT 1) AS idem_one
  LEFT JOIN (SELECT true AS idem_hit, x.* FROM idem_done x LIMIT 1) d ON true
),

idem_recorded AS (
  UPDATE idem.keys k
  SET status = a.status,
    headers = a.headers,
    body = CASE WHEN octet_length(a.body) <= 1048576 THEN a.body END,
    expires_at = CASE WHEN a.hit THEN k.expires_at ELSE clock_timestamp() + interval '2 hours' END
  FROM idem_answer a
  WHERE k.scope = $2 AND k.digest = $3
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a;

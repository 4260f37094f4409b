-- direct, 1 round trips

-- statement: unkeyed
-- $1 tenant_id: caller.tenant_id
-- $2 n: body.n
WITH idem_done (id, amount, created_at) AS (
  SELECT id, amount, created_at FROM payments WHERE tenant_id = $1 ORDER BY id LIMIT $2
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    200::smallint AS status,
    NULL::jsonb AS headers,
    '{"items":[' || coalesce((
      SELECT string_agg((SELECT row_to_json(idem_row)::text FROM (
        SELECT
          d.id,
          d.amount::text AS amount,
          idem.rfc3339(d.created_at) AS created_at
      ) AS idem_row), ',')
      FROM idem_done d
    ), '') || ']}' AS body,
    NULL::bytea AS fingerprint
  FROM (SELECT 1) AS idem_one
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a;

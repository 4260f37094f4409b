-- direct, 1 round trips

-- statement: unkeyed
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 empty: the problem where no row is found
-- $4 empty_headers: its headers
WITH idem_done (id, "order.id", "order.customer.name", "customer.id", "customer.tenant_id", "customer.name",
  meta) AS (
  SELECT p.id, p.order_id AS "order.id", c.name AS "order.customer.name", c.id, c.tenant_id, c.name, p.meta
  FROM payments p JOIN customers c ON c.tenant_id = p.tenant_id WHERE p.tenant_id = $1 AND p.order_id = $2
),

idem_answer AS MATERIALIZED (
  SELECT
    false AS replayed,
    (CASE WHEN d.idem_hit IS NULL THEN 404 ELSE 200 END)::smallint AS status,
    CASE WHEN d.idem_hit IS NULL THEN $4::jsonb ELSE NULL::jsonb END AS headers,
    CASE
      WHEN d.idem_hit IS NULL THEN $3::text
      ELSE (SELECT row_to_json(idem_row)::text FROM (
        SELECT
          d.id,
          (SELECT row_to_json(idem_row) FROM (
            SELECT
              d."order.id" AS id,
              (SELECT row_to_json(idem_row) FROM (
                SELECT d."order.customer.name" AS name
              ) AS idem_row) AS customer
          ) AS idem_row) AS "order",
          (SELECT row_to_json(idem_row) FROM (
            SELECT d."customer.id" AS id, d."customer.name" AS name
          ) AS idem_row) AS customer,
          d.meta
      ) AS idem_row)
    END AS body,
    NULL::bytea AS fingerprint,
    (d.idem_hit IS NOT NULL) AS hit
  FROM (SELECT 1) AS idem_one
  LEFT JOIN (SELECT true AS idem_hit, x.* FROM idem_done x LIMIT 1) d ON true
)

SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a;

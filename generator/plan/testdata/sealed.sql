-- stepped, 3 round trips: record=sealed: the answer is sealed before it is stored

-- statement: step.CapturePayment
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
WITH idem_step (id, status, large, allowed) AS (
  UPDATE payments
  SET status = 'captured'
  WHERE tenant_id = $1
    AND order_id = $2 -- OR must not escape
    AND status = 'authorized' OR false
  RETURNING id, status, amount > 100 AS large, amount < 1000 AS allowed
)

SELECT
  (SELECT row_to_json(idem_row)::text FROM (
    SELECT s.id, s.status
  ) AS idem_row) AS body,
  s.allowed IS TRUE AS allowed,
  s.large IS TRUE AS large
FROM idem_step s;

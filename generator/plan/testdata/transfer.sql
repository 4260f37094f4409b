-- stepped, 6 round trips: 4 statements

-- statement: step.Lock
-- $1 tenant_id: caller.tenant_id
WITH idem_step (id, enough) AS (
  SELECT id, amount > 0 AS enough FROM payments WHERE tenant_id = $1 ORDER BY id FOR UPDATE
)

SELECT
  s.enough IS TRUE AS enough
FROM idem_step s;

-- statement: step.Pay
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 amount: body.amount
-- $4 note: body.note
WITH idem_step (id, order_id, amount, note, created_at) AS (
  INSERT INTO payments (tenant_id, order_id, amount, note)
  VALUES ($1, $2, $3, $4)
  RETURNING id, order_id, amount, note, created_at
)

SELECT
  (SELECT row_to_json(idem_row)::text FROM (
    SELECT
      s.id,
      s.order_id,
      s.amount::text AS amount,
      s.note,
      idem.rfc3339(s.created_at) AS created_at
  ) AS idem_row) AS body,
  coalesce(to_json(idem.rfc3339(s.created_at))::text, 'null') AS created_at,
  jsonb_build_object('Location', '/payments/' || idem.urlencode(s.order_id::text))::text AS headers,
  s.id::text AS id,
  idem.rfc3339(s.created_at) AS created_at
FROM idem_step s;

-- statement: step.Line
-- $1 payment_id: Pay.id
-- $2 sku: item.sku
-- $3 qty: item.qty
WITH idem_step (sku, qty) AS (
  INSERT INTO lines (payment_id, sku, qty) VALUES ($1, $2, $3) RETURNING sku, qty
)

SELECT
  (SELECT row_to_json(idem_row)::text FROM (
    SELECT s.sku, s.qty
  ) AS idem_row) AS body
FROM idem_step s;

-- statement: step.Touch
-- $1 at: Pay.created_at
UPDATE payments SET note = 'x' WHERE created_at = $1;

-- statement: existing.Pay
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
WITH idem_found (id, order_id, amount, note, created_at) AS (
  SELECT id, order_id, amount, note, created_at
  FROM payments
  WHERE tenant_id = $1
    AND order_id = $2
  LIMIT 1
)

SELECT
  (SELECT row_to_json(idem_row)::text FROM (
    SELECT
      d.id,
      d.order_id,
      d.amount::text AS amount,
      d.note,
      idem.rfc3339(d.created_at) AS created_at
  ) AS idem_row) AS body,
  jsonb_build_object('Location', '/payments/' || idem.urlencode(d.order_id::text))::text AS headers
FROM idem_found d;

-- statement: session
-- $1 app.tenant_id: caller.tenant_id
SELECT set_config('app.tenant_id', $1::text, true);

-- stepped, 6 round trips: 4 statements

-- statement: step.Lock
-- $1 tenant_id: caller.tenant_id
-- $2 event: key of the event: Lock told 1
-- $3 scope: whom the key belongs to
-- $4 trace: trace context of the request
WITH idem_step (id, enough) AS (
  SELECT id, amount > 0 AS enough FROM payments WHERE tenant_id = $1 ORDER BY id FOR UPDATE
),

idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload, created_at)
  SELECT $3, 'shop.TransferTold', 'told', $2::text || '-' || d.idem_n, d.id::text, $4::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT d.id
    ) AS idem_row),
    clock_timestamp() + d.idem_n * interval '1 microsecond'
  FROM (SELECT x.*, row_number() OVER () AS idem_n FROM idem_step x) d
  WHERE d.enough
)

SELECT
  s.enough IS TRUE AS enough
FROM idem_step s;

-- statement: step.Pay
-- $1 tenant_id: caller.tenant_id
-- $2 order_id: body.order_id
-- $3 amount: body.amount
-- $4 note: body.note
-- $5 event: key of the event: Pay told 1
-- $6 scope: whom the key belongs to
-- $7 trace: trace context of the request
WITH idem_step (id, order_id, amount, note, created_at) AS (
  INSERT INTO payments (tenant_id, order_id, amount, note)
  VALUES ($1, $2, $3, $4)
  RETURNING id, order_id, amount, note, created_at
),

idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $6, 'shop.TransferTold', 'told', $5, d.id::text, $7::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT
        d.id,
        d.order_id,
        d.amount::text AS amount,
        d.note,
        idem.rfc3339(d.created_at) AS created_at
    ) AS idem_row)
  FROM idem_step d
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
-- $4 event: key of the event: Line told 1
-- $5 scope: whom the key belongs to
-- $6 trace: trace context of the request
WITH idem_step (sku, qty) AS (
  INSERT INTO lines (payment_id, sku, qty) VALUES ($1, $2, $3) RETURNING sku, qty
),

idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
  SELECT $5, 'shop.TransferTold', 'told', $4, left(d.sku::text, 255), $6::jsonb,
    (SELECT row_to_json(idem_row) FROM (
      SELECT d.sku, d.qty
    ) AS idem_row)
  FROM idem_step d
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

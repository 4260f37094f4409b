-- name: PlaceOrder :one
-- Place an order with its line items, in one statement.
-- @http POST /v1/orders 201
-- @bind id uuid7
-- @header Location "/v1/orders/{id}"
-- @tag orders
-- @example {"reference": "R-1", "items": [{"sku": "PEN-1", "qty": 2, "price": "3.50"}]}
WITH placed AS (
    INSERT INTO orders (id, tenant_id, reference)
    VALUES (@id, @tenant_id, @reference)
    RETURNING id, reference, created_at
), lines AS (
    INSERT INTO order_lines (order_id, sku, qty, price)
    SELECT placed.id, item.sku, item.qty, item.price
    FROM placed, jsonb_to_recordset(@items::jsonb) AS item(sku text, qty int, price numeric)
    RETURNING qty, price
)
SELECT placed.id, placed.reference, placed.created_at,
       (SELECT count(*) FROM lines)::bigint AS line_count,
       (SELECT coalesce(sum(qty * price), 0) FROM lines)::numeric AS total
FROM placed;

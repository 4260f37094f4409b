-- name: CreateOrder :one
-- Record an order.
-- @http POST /v1/orders
-- @intent orders (tenant_id, reference)
INSERT INTO orders (tenant_id, reference, amount)
VALUES (@tenant_id, @reference, @amount)
RETURNING id, reference, amount;

-- name: GetOrder :one
-- @http GET /v1/orders/{id}
SELECT id, reference, amount FROM orders WHERE id = @id AND tenant_id = @tenant_id;

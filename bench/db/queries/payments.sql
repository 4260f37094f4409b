-- name: CreatePayment :one
-- Record a payment.
-- @http POST /payments 201
INSERT INTO payments (tenant_id, order_id, amount)
VALUES (@tenant_id, @order_id, @amount)
RETURNING id, order_id, amount, status, created_at;

-- name: InsertEvent :exec
INSERT INTO payment_events (payment_id, kind) VALUES (@payment_id, 'created');

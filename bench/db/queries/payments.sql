-- name: CreatePayment :one
-- Record a payment.
-- @http POST /payments 201
INSERT INTO payments (tenant_id, order_id, amount)
VALUES (@tenant_id, @order_id, @amount)
RETURNING id, order_id, amount, status, created_at;

-- name: InsertEvent :exec
INSERT INTO payment_events (payment_id, kind) VALUES (@payment_id, 'created');

-- name: CreatePaymentAsWritten :one
-- Record a payment, in a statement that idemgen leaves as it is: its WITH writes.
-- @http POST /payments-as-written 201
WITH made AS (
  INSERT INTO payments (tenant_id, order_id, amount)
  VALUES (@tenant_id, @order_id, @amount)
  RETURNING id, order_id, amount, status, created_at
)
SELECT id, order_id, amount, status, created_at FROM made;

-- name: GetPayment :one
-- Read a payment by its primary key.
-- @http GET /payments/{id}
SELECT id, order_id, amount, status, created_at FROM payments WHERE id = @id;

-- name: CreatePayment :one
-- Record a payment for an order, at most once per tenant and order.
-- @http POST /v1/payments 201
-- @intent payments (tenant_id, order_id)
-- @error payments_amount_check 422 amount_not_positive "amount must be positive"
-- @header Location "/v1/payments/{id}"
-- @outbox payment.created key=order_id
-- @tag payments
-- @example {"order_id": "order-1", "amount": 1250, "currency": "EUR"}
INSERT INTO payments (tenant_id, order_id, amount, currency, note)
VALUES (@tenant_id, @order_id, @amount, @currency, sqlc.narg('note'))
RETURNING id, order_id, amount, currency, status, note, created_at;

-- name: CapturePayment :one
-- Capture an authorized payment. A payment can be captured once.
-- @http POST /v1/payments/{id}/capture 200
-- @tool capture_payment "Capture an authorized payment: takes the money. A payment can be captured once."
-- @empty 409 not_authorized "the payment isn't waiting for its capture"
-- @outbox payment.captured key=order_id
-- @tag payments
UPDATE payments
SET status = 'captured', captured_at = now()
WHERE tenant_id = @tenant_id AND id = @id AND status = 'authorized'
RETURNING id, order_id, amount, currency, status, captured_at;

-- name: GetPayment :one
-- Read a payment.
-- @http GET /v1/payments/{id}
-- @tool get_payment
-- @empty 404 no_such_payment "there is no such payment"
-- @tag payments
SELECT id, order_id, amount, currency, status, note, created_at, captured_at
FROM payments
WHERE tenant_id = @tenant_id AND id = @id;

-- name: ListPayments :many
-- List payments, oldest first. The last id of a page is the next page's `after`.
-- @http GET /v1/payments
-- @bind after query.after default=0
-- @bind page_size query.limit default=20 min=1 max=100
-- @tag payments
SELECT id, order_id, amount, currency, status, created_at
FROM payments
WHERE tenant_id = @tenant_id AND id > @after
ORDER BY id
LIMIT @page_size;

-- name: PaymentCaptured :one
-- The acquirer has captured a payment.
-- @webhook stripe payment.captured
-- @bind payment_id body.data.object.payment_id
-- @empty 409 not_authorized "the payment isn't waiting for its capture"
UPDATE payments
SET status = 'captured', captured_at = now()
WHERE tenant_id = @tenant_id AND id = @payment_id AND status = 'authorized'
RETURNING id, status;

-- name: PaymentRefunded :one
-- The acquirer has given money back: each event once, however often it is delivered.
-- @webhook stripe payment.refunded, payment.chargeback
-- @bind payment_id body.data.object.payment_id
-- @bind amount body.data.object.amount min=1
-- @empty 409 more_than_left "there is no such captured payment, or less is left of it"
UPDATE payments
SET refunded = refunded + @amount
WHERE tenant_id = @tenant_id AND id = @payment_id AND status = 'captured' AND refunded + @amount <= amount
RETURNING id, refunded;

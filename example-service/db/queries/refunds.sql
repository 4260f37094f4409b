-- name: LockPayment :one
-- Other refunds of the payment wait here, so that the sum is never more than it.
-- @empty 404 no_such_payment "there is no such payment"
SELECT amount, refunded, status
FROM payments
WHERE tenant_id = @tenant_id AND id = @id
FOR UPDATE;

-- name: InsertRefund :one
INSERT INTO refunds (tenant_id, payment_id, amount, reason)
VALUES (@tenant_id, @payment_id, @amount, sqlc.narg('reason'))
RETURNING id;

-- name: MarkRefunded :one
UPDATE payments
SET refunded = refunded + @amount,
    status = CASE WHEN refunded + @amount = amount THEN 'refunded' ELSE status END
WHERE tenant_id = @tenant_id AND id = @id
RETURNING id, amount, currency, refunded, status;

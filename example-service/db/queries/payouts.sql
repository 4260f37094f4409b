-- name: CreatePayout :one
-- Pay money out of an account, in the background.
-- @http POST /v1/payouts
-- @tag payouts
-- @async
-- @outbox payout.created key=account_id
-- @bind account_id body.account
-- @empty 402 insufficient_funds "the account has too little money"
-- @example {"account": 1, "amount": 100}
WITH debited AS (
    UPDATE accounts SET balance = balance - @amount::bigint
    WHERE accounts.tenant_id = @tenant_id AND accounts.id = @account_id AND accounts.balance >= @amount::bigint
    RETURNING accounts.id
)
INSERT INTO payouts (tenant_id, account_id, amount)
SELECT @tenant_id, id, @amount::bigint FROM debited
RETURNING id, account_id, amount, created_at;

-- name: MarkPayoutPaid :execrows
-- The gateway has paid. Once is enough, twice does no harm.
UPDATE payouts SET status = 'paid', gateway_id = @gateway_id::text
WHERE tenant_id = @tenant_id AND id = @id AND status = 'requested';

-- name: MarkPayoutRefused :execrows
-- The gateway has refused, for good: the money goes back to the account, once.
WITH refused AS (
    UPDATE payouts SET status = 'refused'
    WHERE payouts.tenant_id = @tenant_id AND payouts.id = @id AND payouts.status = 'requested'
    RETURNING payouts.account_id, payouts.amount
)
UPDATE accounts SET balance = balance + refused.amount FROM refused WHERE accounts.id = refused.account_id;

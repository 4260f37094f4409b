-- name: CreatePayout :one
-- Pay money out of an account, in the background.
-- @http POST /v1/payouts
-- @tag payouts
-- @async
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

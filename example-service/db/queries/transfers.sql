-- name: LockAccounts :many
-- Always in the order of their ids, so that two transfers can't wait for each other.
SELECT id
FROM accounts
WHERE tenant_id = @tenant_id AND id IN (@from_id, @to_id)
ORDER BY id
FOR UPDATE;

-- name: MoveMoney :one
-- @require differ 422 same_account "a transfer needs two accounts"
-- @require both_exist 404 no_such_account "one of the accounts does not exist"
-- @require enough 402 insufficient_funds "the balance is too low"
WITH found AS (
    SELECT count(*) AS n
    FROM accounts a
    WHERE a.tenant_id = @tenant_id AND a.id IN (@from_id, @to_id)
), debited AS (
    UPDATE accounts d
    SET balance = d.balance - @amount::bigint
    WHERE d.tenant_id = @tenant_id AND d.id = @from_id AND d.balance >= @amount::bigint
    RETURNING d.id
), credited AS (
    UPDATE accounts c
    SET balance = c.balance + @amount::bigint
    WHERE c.tenant_id = @tenant_id AND c.id = @to_id
    RETURNING c.id
)
SELECT (@from_id::bigint <> @to_id::bigint)::boolean AS differ,
       (found.n = 2)::boolean AS both_exist,
       EXISTS (SELECT FROM debited)::boolean AS enough
FROM found;

-- name: InsertTransfer :one
-- @error transfers_accounts_differ 422 same_account "a transfer needs two accounts"
INSERT INTO transfers (tenant_id, from_account, to_account, amount)
VALUES (@tenant_id, @from_account, @to_account, @amount)
RETURNING id, from_account, to_account, amount, created_at;

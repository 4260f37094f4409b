-- name: CreateAccount :one
-- Open an account.
-- @http POST /v1/accounts 201
-- @header Location "/v1/accounts/{id}"
-- @bind balance body.balance default=0
-- @tag accounts
INSERT INTO accounts (tenant_id, owner, currency, balance)
VALUES (@tenant_id, @owner, @currency, @balance)
RETURNING id, owner, currency, balance, created_at;

-- name: GetAccount :one
-- Read an account.
-- @http GET /v1/accounts/{id}
-- @empty 404 no_such_account "there is no such account"
-- @tag accounts
SELECT id, owner, currency, balance, created_at
FROM accounts
WHERE tenant_id = @tenant_id AND id = @id;

-- name: CreatePayout :one
-- @http POST /v1/payouts
-- @async
INSERT INTO payouts (amount) VALUES (@amount) RETURNING id;

-- name: Other :one
-- @http POST /v1/other
-- @async please
-- @async
INSERT INTO payouts (amount) VALUES (@amount) RETURNING id;

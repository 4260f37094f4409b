-- name: Last :one
SELECT 1;
-- @http GET /v1/after
-- @someone else

-- name: Windows :one
-- With carriage returns.
-- @http GET /v1/w/{id}
SELECT id
FROM w WHERE id = @id;

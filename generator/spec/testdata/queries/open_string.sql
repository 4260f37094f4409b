-- name: Open :one
SELECT 'it's gone';
-- @http GET /x

-- name: Open :one
SELECT 1 /* open;

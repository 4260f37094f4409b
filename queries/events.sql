-- name: InsertEvent :exec
-- An event of Go code, in the transaction of its operation.
INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
VALUES (@scope::text, @operation::text, @topic::text, @key::text, left(sqlc.narg(order_key)::text, 255), sqlc.narg(headers)::jsonb, @payload::json);

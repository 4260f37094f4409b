-- name: AddCustomer :one
-- Add a customer.
-- @http POST /v1/customers
INSERT INTO customers (id, name, nick, mood, tags, balance, meta, url, created_at)
VALUES (@id, @name, sqlc.narg('nick'), @mood, @tags, @balance, @meta, @url, now())
RETURNING *;

-- name: CustomerName :one
SELECT name FROM customers WHERE id = @id;

-- name: Rename :execrows
UPDATE customers SET name = @name, last_mood = sqlc.narg('last_mood') WHERE id = @id;

-- name: CountAll :one
SELECT count(*) FROM customers;

-- name: Wipe :exec
DELETE FROM customers WHERE name = @name AND url = @url;

-- name: Both :many
SELECT sqlc.embed(c), sqlc.embed(i), c.nick AS "who.nick", max(i.id)::bigint AS top
FROM customers c JOIN stock.items i ON i.mood = c.mood GROUP BY c.id, i.id;

-- name: OnlyEmbed :one
SELECT sqlc.embed(customers) FROM customers WHERE id = @id;

-- name: Moods :many
SELECT last_mood FROM customers WHERE mood = @mood AND tags = @tags::text[];

-- name: Left :many
SELECT c.id, i.sku, i.mood FROM customers c LEFT JOIN stock.items i ON i.mood = c.mood;

-- name: Loose :one
SELECT coalesce(meta, @fallback) AS meta, json_agg(name) FILTER (WHERE tags = @anything) OVER () FROM customers;

-- name: Twice :many
SELECT id, name FROM customers WHERE name = @q OR nick = @q OR url = @other;

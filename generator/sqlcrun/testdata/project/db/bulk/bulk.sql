-- name: AddItems :copyfrom
INSERT INTO stock.items (id, sku, mood) VALUES ($1, $2, $3);

-- name: ItemIDs :copyfrom
INSERT INTO stock.items (id) VALUES ($1);

-- name: ItemOf :batchone
SELECT id, sku FROM stock.items WHERE id = $1;

-- name: ItemsOf :batchmany
SELECT sku FROM stock.items WHERE id = @id AND mood = @mood;

-- name: DropItem :batchexec
DELETE FROM stock.items WHERE id = @id AND sku = @sku;

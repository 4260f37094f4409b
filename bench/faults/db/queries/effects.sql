-- name: Fuse :one
-- One statement; a reference that begins with "refuse" is refused.
-- @http POST /fused 201
-- @empty 402 refused "this reference is refused"
INSERT INTO effects (tenant_id, reference)
SELECT @tenant_id, @reference::text WHERE @reference::text NOT LIKE 'refuse%'
RETURNING id, tenant_id, reference, created_at;

-- name: Later :one
-- The same, in the background.
-- @http POST /later
-- @async
INSERT INTO effects (tenant_id, reference)
VALUES (@tenant_id, @reference::text)
RETURNING id, tenant_id, reference, created_at;

-- name: InsertEffect :one
INSERT INTO effects (tenant_id, reference)
VALUES (@tenant_id, @reference::text)
RETURNING id, tenant_id, reference, created_at;

-- name: InsertLine :one
INSERT INTO lines (tenant_id, reference, effect_id)
VALUES (@tenant_id, @reference::text, @effect_id)
RETURNING id, reference;

-- name: MarkCalled :one
UPDATE effects SET note = @receipt::text
WHERE tenant_id = @tenant_id AND id = @effect_id
RETURNING id, tenant_id, reference, note, created_at;

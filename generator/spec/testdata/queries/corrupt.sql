-- name: Hash :one
SELECT meta
#>> '{a}' FROM t WHERE id = @id;
-- name: Glued :one
SELECT 1 FROM t WHERE id =@id AND b >=@b AND c <@d AND e <@ ARRAY[1] AND f @@g AND h = @h;
-- name: Slice :many
SELECT id FROM t WHERE id IN (sqlc.slice('ids')) AND t.slice = 1;
-- name: Merge :exec
MERGE INTO t USING (SELECT @id::bigint AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE;
-- name: MergeAnnotated :exec
-- @http POST /v1/m
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE;
-- name: MergeWith :exec
WITH a AS (SELECT sqlc.arg(x)::int AS x)
merge into t USING a ON t.id = a.x WHEN MATCHED THEN DELETE;
-- name: InString :exec
INSERT INTO notes (body) VALUES ('first
-- second
# third
/* fourth */
 -- fifth stays');
-- name: InDollar :exec
INSERT INTO notes (body) VALUES ($x$
-- gone
$x$);
-- name: HintLine :exec
/* a */ DELETE FROM t /* b */
WHERE id = @id;
-- name: BlockEnd :exec
DELETE FROM t /* one
-- two */ WHERE id = @id;
/*
-- name: Old :one
SELECT 1;
*/
-- name: New :one
SELECT 2;
-- name: Harmless :one
/* alone */
SELECT 1 /* one
   two */ FROM t
-- a comment
WHERE a #>> '{x}' = 'y' AND b = @b;

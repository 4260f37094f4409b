-- @http GET /v1/first
-- name: First :one
SELECT 1;
-- @http GET /v1/above
-- name: Above :one
SELECT 1; -- @tag Trailing
-- name: Trailing :one
SELECT 1;

-- name: Lookalikes :one
-- @http GET /v1/l
  -- @tag Indented
/* @key none */
--@omit a
--- @policy timeout=5s
SELECT 1 -- @empty 404
;

-- name: NearMiss :one
-- @htpp GET /v1/ignored
-- @author somebody
SELECT 1;

SELECT 'a statement without a name';

-- @http GET /v1/unnamed
SELECT 2;

-- name:NoSpace :one
SELECT 1;
-- name: NoCommand
SELECT 1;
-- name: Two  Spaces :one
SELECT 1;
-- name: bad-name :one
SELECT 1;
-- name: BadCommand :oen
SELECT 1;
-- name: BadCommand2 :fetch-it-all
SELECT 1;
  -- name: Indented :one
SELECT 1;
-- name: Outer :one
-- name: Inner :one
SELECT 1;
-- name: NoStatement :one
;
SELECT 1
-- name: NoSemicolonBefore :one
SELECT 2;
-- name: Prose :one
-- name: what the tenant is called
SELECT 1;
-- name: NoSemicolon :one
-- @http GET /v1/n
SELECT 1
-- @tag late

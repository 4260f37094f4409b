-- name: Space :one
-- @ http GET /v1/space
SELECT 1;
-- name: Glued :one
--@http GET /v1/glued
SELECT 1;
-- name: Capitals :one
-- @HTTP GET /v1/capitals
SELECT 1;
-- name: Colon :one
-- @http: GET /v1/colon
SELECT 1;
-- name: Parenthesis :one
-- @http GET /v1/p
-- @Policy(timeout=5s)
SELECT 1;
-- name: Equals :one
-- @http GET /v1/e
-- @key=header
SELECT 1;
-- name: Many :one
-- @http GET /v1/m
-- -- @tag a
-- * @tag b
/* @tag c */
SELECT 1;

-- Name: CapitalName :one
-- @http GET /v1/capital_name
SELECT 1;
-- name NoColon :one
SELECT 1;
--NAME: Shouted :many
SELECT 1;

-- name: Dots :one
-- @http GET /v1/../admin/{id}
SELECT 1;
-- name: Dot :one
-- @http GET /v1/./x
SELECT 1;
-- name: LastDots :one
-- @http GET /v1/x/..
SELECT 1;
-- name: Escape :one
-- @http GET /v1/caf%C3%A9
SELECT 1;
-- name: Fragment :one
-- @http GET /v1/x#part
SELECT 1;
-- name: Backslash :one
-- @http GET /v1\x
SELECT 1;
-- name: Letters :one
-- @http GET /v1/café
SELECT 1;

-- name: Twice :one
-- @omit a, b, a
-- @omit c
-- @omit "c"
-- @tag a b
-- @tag c, c
-- @tag d
-- @tag "d"
SELECT 1;
-- name: Commas :one
-- @omit a b, c
SELECT 1;

-- name: Member :one
-- @http POST /v1/member
-- @example {"a": 1, "b": {"a": 2}, "a": 3}
SELECT 1;
-- name: Deep :one
-- @http POST /v1/deep
-- @example [{"a": 1}, {"a": ["b", "b", {"c": "d", "d": "c", "c": null}]}]
SELECT 1;
-- name: Escaped :one
-- @http POST /v1/escaped
-- @example {"a": {}, "a": 1}
SELECT 1;

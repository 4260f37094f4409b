-- name: All :one
-- @consume order.created
SELECT 1;
-- name: Some :one
-- @consume orders order.paid, order/shipped,order.refunded  a.b
SELECT 1;
-- name: NoTopic :one
-- @consume
SELECT 1;
-- name: Wildcard :one
-- @consume order.*
SELECT 1;
-- name: Comma :one
-- @consume orders a,,b
SELECT 1;
-- name: Twice :one
-- @consume orders a b a
SELECT 1;
-- name: Both :one
-- @http POST /v1/a
-- @consume orders a
SELECT 1;
-- name: Both2 :one
-- @consume orders a
-- @http POST /v1/a
SELECT 1;
-- name: Both3 :one
-- @webhook stripe a
-- @consume orders a
SELECT 1;
-- name: Both4 :one
-- @consume orders a
-- @webhook stripe a
SELECT 1;
-- name: TwoTopics :one
-- @consume orders a
-- @consume payments b
SELECT 1;
-- name: Near :one
-- @subscribe orders
SELECT 1;

-- name: All :one
-- @webhook stripe
SELECT 1;
-- name: Some :one
-- @webhook standard-webhooks_2 invoice.paid, orders/create,refund.created  a.b
SELECT 1;
-- name: NoSystem :one
-- @webhook
SELECT 1;
-- name: Capital :one
-- @webhook Stripe
SELECT 1;
-- name: Path :one
-- @webhook stripe/v2 a
SELECT 1;
-- name: Comma :one
-- @webhook stripe a,,b
SELECT 1;
-- name: Umlaut :one
-- @webhook stripe zahlung.höhe
SELECT 1;
-- name: Twice :one
-- @webhook stripe a b a
SELECT 1;
-- name: Both :one
-- @http POST /v1/a
-- @webhook stripe a
SELECT 1;
-- name: Both2 :one
-- @webhook stripe a
-- @http POST /v1/a
SELECT 1;
-- name: TwoSystems :one
-- @webhook stripe a
-- @webhook github b
SELECT 1;
-- name: Near :one
-- @webhooks stripe a
SELECT 1;
-- name: Hook :one
-- @hook stripe a
SELECT 1;

-- name: IssueInvoice :one
-- @tool issue_invoice "Issue the invoice of an order."
INSERT INTO invoices (order_id) VALUES (@order_id) RETURNING id;

-- name: Both :one
-- @http POST /v1/invoices 201
-- @tool invoice
INSERT INTO invoices (order_id) VALUES (@order_id) RETURNING id;

-- name: Bad1 :one
-- @tool
SELECT 1;
-- name: Bad2 :one
-- @tool 1st "x"
SELECT 1;
-- name: Bad3 :one
-- @tool a.b "x"
SELECT 1;
-- name: Bad4 :one
-- @tool a plain words
SELECT 1;
-- name: Bad5 :one
-- @tool a 'single'
SELECT 1;
-- name: Bad6 :one
-- @tool a "  "
SELECT 1;
-- name: Bad7 :one
-- @tool a "x" more
SELECT 1;
-- name: Bad8 :one
-- @tool a "x"
-- @tool b "y"
SELECT 1;
-- name: Bad9 :one
-- @webhook stripe
-- @tool a "x"
SELECT 1;
-- name: Bad10 :one
-- @agent a "x"
-- @http GET /v1/a
SELECT 1;

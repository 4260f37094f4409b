-- Queries of the payments service.

-- name: CreatePayment :one
-- Record a payment for an order, at most once per tenant and order.
--
-- Amounts are in cents.
-- @http POST /v1/payments 201
-- @intent payments (tenant_id, order_id) where status <> 'void (old)' return
-- @error payments_amount_check 422 amount_not_positive "amount must be positive"
-- @error 23503 422
-- @header Location "/v1/payments/{id}"
-- @bind amount body.amount min=1 max=1000000
-- @bind note body.details.note default="it's; new"
-- @bind source 'it''s a -- literal'
-- @bind asked has(body.note)
-- @bind trace header.X-Trace-Id
-- @bind at now
-- @omit internal_note, "customer.name"
-- @policy success=30d client_error=2h inflight=reject fingerprint=except(note, at) isolation=repeatable_read timeout=1m30s max_body=64KiB record=none force_retry=off
-- @key header.X-Request-Id prefix="pay-{shop}-"
-- @tag Payments, "Money, moved"
-- @operation RecordPayment
-- @example {"order_id": "o-1", "note": "it's"}
INSERT INTO payments (tenant_id, order_id, note)
VALUES (@tenant_id, @order_id, $$a;
  -- @http GET /not/an/annotation
;$$)
-- @require enough 402 insufficient_funds "not enough"
-- inside: not a description
RETURNING id, 'text; -- @status in a string' AS a, E'it\'s;' AS b, "c;d" /* ; /* nested */ */;

-- name: PutCustomer :one
-- @http PUT /v1/customers/{id}:merge
-- @key header optional
-- @status created 201
-- @status declined 402
-- @empty 404 no_such_customer
	INSERT INTO customers (id) VALUES (@id) RETURNING id, (xmax = 0) AS created;

-- name: ByConstraint :exec
-- @http DELETE /v1/things/{id} 204
-- @intent Payments_Order_Key conflict
-- @empty 204
-- @key intent
-- @sqlc-vet-disable
-- @param id the thing
DELETE FROM "T" WHERE id = @id AND tags <@ ARRAY['a'] AND v @@to_tsquery('x');

-- name: Plain :many
-- Not an operation. @http is only mentioned here.
-- @author nobody
SELECT 1 -- no annotation: @http
;

/* name: Blocky :exec */
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE;

-- a last word

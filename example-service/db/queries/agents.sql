-- name: InsertInvoice :one
-- @intent invoices (tenant_id, order_id)
-- @outbox invoice.issued key=order_id
INSERT INTO invoices (tenant_id, order_id, amount, currency)
VALUES (@tenant_id, @order_id, @amount, @currency)
RETURNING id, order_id, amount, currency, created_at;

-- name: InsertAgentStep :exec
INSERT INTO agent_steps (tenant_id, key, tool, invoice_id)
VALUES (@tenant_id, @key, @tool, @invoice_id);

-- name: FindInvoices :many
-- The invoices of a customer's orders, newest first.
-- @tool find_invoices "Find the invoices that have been issued, newest first; with order_id the one of that order."
-- @bind page_size body.limit default=20 min=1 max=100
SELECT i.id, i.order_id, i.amount, i.currency, i.created_at, s.status AS dispatch
FROM invoices i
JOIN agent_steps s ON s.invoice_id = i.id
WHERE i.tenant_id = @tenant_id AND (sqlc.narg('order_id')::text IS NULL OR i.order_id = sqlc.narg('order_id')::text)
ORDER BY i.id DESC
LIMIT @page_size;

-- name: AgentSteps :many
-- What an agent finds after a restart.
SELECT key, tool, status, invoice_id FROM agent_steps WHERE tenant_id = @tenant_id ORDER BY created_at, key;

-- name: MarkAgentStepProcessed :execrows
-- The receiver has the event. Once is enough, twice does no harm.
UPDATE agent_steps SET status = 'PROCESSED', processed_at = now()
WHERE tenant_id = @tenant_id AND invoice_id = @invoice_id AND status = 'AWAITING_EXTERNAL_DISPATCH';

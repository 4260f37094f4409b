-- idemgen: intent payments(tenant_id,order)
-- At most one row of payments per tenant_id, "order", whatever the key.
--
-- Rows that already break this rule make the migration fail. This finds them:
--
--   SELECT tenant_id, "order", count(*)
--   FROM payments
--   GROUP BY tenant_id, "order"
--   HAVING count(*) > 1;

-- +goose NO TRANSACTION
-- +goose Up
-- A build that failed leaves an invalid index behind.
DROP INDEX CONCURRENTLY IF EXISTS payments_tenant_id_order_intent;
CREATE UNIQUE INDEX CONCURRENTLY payments_tenant_id_order_intent
ON payments (tenant_id, "order");

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS payments_tenant_id_order_intent;

-- idemgen: intent payments(tenant_id,order_id)
-- At most one row of payments per tenant_id, order_id, whatever the key.
--
-- Rows that already break this rule make the migration fail. This finds them:
--
--   SELECT tenant_id, order_id, count(*)
--   FROM payments
--   GROUP BY tenant_id, order_id
--   HAVING count(*) > 1;

-- +goose NO TRANSACTION
-- +goose Up
-- A build that failed leaves an invalid index behind.
DROP INDEX CONCURRENTLY IF EXISTS payments_tenant_id_order_id_intent;
CREATE UNIQUE INDEX CONCURRENTLY payments_tenant_id_order_id_intent
ON payments (tenant_id, order_id);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS payments_tenant_id_order_id_intent;

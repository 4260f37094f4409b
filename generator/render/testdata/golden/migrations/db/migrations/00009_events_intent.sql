-- idemgen: intent events(tenant_id,at)
-- At most one row of events per tenant_id, at, whatever the key.
--
-- Rows that already break this rule make the migration fail. This finds them:
--
--   SELECT tenant_id, at, count(*)
--   FROM events
--   GROUP BY tenant_id, at
--   HAVING count(*) > 1;
--
-- A partitioned table can't get its index CONCURRENTLY. This one blocks writes
-- while it is built; where that takes too long, do it by hand before: make the
-- index ON ONLY the table, make one CONCURRENTLY on each partition, and attach
-- them by ALTER INDEX … ATTACH PARTITION.

-- +goose Up
CREATE UNIQUE INDEX IF NOT EXISTS events_tenant_id_at_intent
ON events (tenant_id, at);

-- +goose Down
DROP INDEX IF EXISTS events_tenant_id_at_intent;

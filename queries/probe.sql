-- name: SchemaVersion :one
SELECT idem.version()::integer AS version;

-- name: ProbeConnection :one
-- What the server inherits to a transaction, and whether it can watch for lost
-- clients (version 14 on Linux).
SELECT current_setting('default_transaction_isolation') <> 'read committed' AS other_isolation,
  current_setting('server_version_num')::integer >= 140000 AND version() LIKE '%linux%' AS checks_client;

-- name: PartitionRoot :one
-- The table and index that a partition's were made from.
WITH RECURSIVE up AS (
  SELECT t.oid AS tab, i.oid AS idx, 0 AS depth
  FROM pg_catalog.pg_class t
  JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
  LEFT JOIN pg_catalog.pg_class i ON i.relnamespace = n.oid AND i.relname = @index_name::text
  WHERE n.nspname = @schema_name::text AND t.relname = @table_name::text
  UNION ALL
  SELECT h.inhparent, (SELECT g.inhparent FROM pg_catalog.pg_inherits g WHERE g.inhrelid = up.idx), up.depth + 1
  FROM up JOIN pg_catalog.pg_inherits h ON h.inhrelid = up.tab
)
SELECT n.nspname::text AS schema_name, t.relname::text AS table_name, coalesce(i.relname::text, '')::text AS index_name
FROM up
JOIN pg_catalog.pg_class t ON t.oid = up.tab
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN pg_catalog.pg_class i ON i.oid = up.idx
ORDER BY up.depth DESC LIMIT 1;

-- name: IntentIndexes :many
-- Of the given unique indexes, by table, those that are there and in force.
SELECT (n.nspname || '.' || t.relname || ' ' || i.relname)::text AS name
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
WHERE x.indisunique AND x.indisvalid AND x.indisready
  AND n.nspname || '.' || t.relname || ' ' || i.relname = ANY(@names::text[]);

-- name: HookedTables :many
-- Tables that a gated statement would behave differently on: statement-level
-- triggers fire although nothing is written; rules fail inside WITH.
SELECT (n.nspname || '.' || c.relname)::text AS name,
  EXISTS (SELECT FROM pg_catalog.pg_trigger t
    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgtype & 1 = 0 AND t.tgenabled <> 'D')::boolean AS has_trigger,
  EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type <> '1')::boolean AS has_rule
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname || '.' || c.relname = ANY(@tables::text[])
ORDER BY 1;

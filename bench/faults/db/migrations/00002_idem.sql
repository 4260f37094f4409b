-- idemgen: runtime 1
-- The tables of the idemgen runtime, in a PostgreSQL schema of their own.
-- +goose Up
CREATE SCHEMA idem;

-- One row per key: who used it, for what, and the recorded answer. A row is
-- seen by others only once the answer is in it. Operators find rows by scope
-- and key; the digest keeps the index small and keys out of PostgreSQL's log.
-- Scopes have 1 to 255 bytes and digests 16. The runtime sees to that: the two as
-- CHECKs, which PostgreSQL compiles anew for each statement, cost a tenth of it.
CREATE TABLE idem.keys (
  scope       text COLLATE "C" NOT NULL,
  digest      bytea NOT NULL,
  operation   text NOT NULL,
  key         text NOT NULL,
  fingerprint bytea NOT NULL,
  status      smallint NOT NULL,
  headers     jsonb,
  body        text,
  attempt     integer NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (scope, digest)
) WITH (
  -- A table that was swept empty and truncated makes cached plans scan.
  vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX keys_expires_at ON idem.keys (expires_at);

-- One row per event, written in the transaction of the operation it tells of.
-- A PENDING event is dispatched from due_at on. While it is leased, that is the
-- end of the lease; 'infinity' while an event ahead of it, with the same
-- order_key, is not PROCESSED. attempt counts leases and fences the owners of
-- older ones; failures counts deliveries that failed.
CREATE TABLE idem.outbox (
  scope          text COLLATE "C" NOT NULL,
  id             uuid NOT NULL DEFAULT gen_random_uuid(),
  operation      text NOT NULL,
  topic          text COLLATE "C" NOT NULL,
  key            text NOT NULL,
  order_key      text,
  headers        jsonb,
  payload        json NOT NULL,
  status         text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'PROCESSED', 'DEAD')),
  attempt        integer NOT NULL DEFAULT 0,
  failures       integer NOT NULL DEFAULT 0,
  due_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease_owner    text,
  lease_until    timestamptz,
  answer_status  smallint,
  answer_headers jsonb,
  answer_body    text,
  reason         text,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  processed_at   timestamptz,
  PRIMARY KEY (scope, id),
  UNIQUE (scope, key)
) WITH (
  vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX outbox_due ON idem.outbox (topic, due_at) WHERE status = 'PENDING';
CREATE INDEX outbox_order ON idem.outbox (scope, topic, order_key, created_at, id)
  WHERE order_key IS NOT NULL AND status <> 'PROCESSED';
CREATE INDEX outbox_processed ON idem.outbox (processed_at) WHERE status = 'PROCESSED';
CREATE INDEX outbox_dead ON idem.outbox (created_at, id) WHERE status = 'DEAD';

-- One row per operation that is not done yet, beside its row in idem.keys: one
-- that called another system in between, or one that is done later. Whoever has
-- the lease (owner, attempt, the database's clock) works at it; every write names
-- owner, attempt and step, so that one who is late writes nothing.
CREATE TABLE idem.work (
  scope       text COLLATE "C" NOT NULL,
  digest      bytea NOT NULL,
  operation   text NOT NULL,
  async       boolean NOT NULL DEFAULT false,
  event_id    uuid,            -- async: what clients ask the status for
  input       jsonb,           -- all that the request brought; NULL once it is done
  results     jsonb,           -- of the steps done so far
  step        integer NOT NULL DEFAULT 0, -- the next one to run; while undoing: to undo
  attempt     integer NOT NULL DEFAULT 0, -- how often a lease was taken
  tries       integer NOT NULL DEFAULT 0, -- failed ones since the last progress
  owner       text,            -- NULL: nobody has it, and the last who had gave it back
  lease_until timestamptz,
  due_at      timestamptz DEFAULT clock_timestamp(), -- of the next try; NULL: it is done
  held        boolean NOT NULL DEFAULT false,        -- an operator decides
  reason      text,
  undoing     boolean NOT NULL DEFAULT false, -- calls are taken back; then refusal is the answer
  refusal     jsonb,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at  timestamptz,     -- async: when it is done, that of the record
  PRIMARY KEY (scope, digest),
  UNIQUE (scope, event_id)
) WITH (
  vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX work_due ON idem.work (greatest(due_at, lease_until)) WHERE due_at IS NOT NULL AND NOT held;
CREATE INDEX work_held ON idem.work (created_at) WHERE held;
CREATE INDEX work_expires_at ON idem.work (expires_at) WHERE expires_at IS NOT NULL;

-- The version of these tables; the runtime refuses to start with another.
CREATE FUNCTION idem.version() RETURNS integer
  LANGUAGE sql IMMUTABLE AS 'SELECT 1';

-- +goose StatementBegin
-- refuse ends a statement whose requirement does not hold. VOLATILE, so that it
-- is called where it stands and nowhere else.
CREATE FUNCTION idem.refuse(rule text) RETURNS text
  LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RAISE EXCEPTION 'a requirement does not hold'
    USING ERRCODE = 'IDM01', CONSTRAINT = rule;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- rfc3339 is a time in UTC with six decimals, whatever TimeZone is. What to_char
-- can't say is PostgreSQL's own word: infinity, and BC behind years before 1.
-- One SELECT, so that the planner puts it in place of the call.
CREATE FUNCTION idem.rfc3339(value timestamptz) RETURNS text
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    to_char(value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
      || CASE WHEN value < '0001-01-01 00:00:00Z' THEN ' BC' ELSE '' END),
    value::text)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- interval_iso is an interval as ISO 8601 duration, whatever IntervalStyle is.
CREATE FUNCTION idem.interval_iso(value interval) RETURNS text
  LANGUAGE plpgsql STABLE STRICT SET intervalstyle = 'iso_8601' AS $$
BEGIN
  RETURN value::text;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- urlencode percent-encodes all but the unreserved characters of RFC 3986.
CREATE FUNCTION idem.urlencode(value text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF value COLLATE "C" ~ '^[A-Za-z0-9._~-]*$' THEN
    RETURN value; -- nearly always, and four times as fast
  END IF;
  RETURN (
    SELECT string_agg(
      CASE WHEN b BETWEEN 48 AND 57 OR b BETWEEN 65 AND 90 OR b BETWEEN 97 AND 122
             OR b IN (45, 46, 95, 126)
           THEN chr(b) ELSE '%' || upper(lpad(to_hex(b), 2, '0')) END, '' ORDER BY i)
    FROM (
      SELECT i, get_byte(convert_to(value, 'UTF8'), i) AS b
      FROM generate_series(0, octet_length(convert_to(value, 'UTF8')) - 1) AS i
    ) AS bytes);
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- header_text is a text that may stand in a header: one with control characters
-- ends the statement.
CREATE FUNCTION idem.header_text(value text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF value COLLATE "C" ~ '[\u0001-\u001f\u007f]' THEN
    RAISE EXCEPTION 'a header value has control characters' USING ERRCODE = 'IDM02';
  END IF;
  RETURN value;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- claim_events leases due events to an owner, which is new at each call: of the
-- topics of each pattern ("order.created", "order.*", "*"; the longest that fits
-- counts) at most as many as it has room for. The topics are found by one probe
-- of the index each, so that events which nobody here takes cost nothing, and
-- are served in no fixed order, so that none starves.
--
-- An event is ahead of others with its scope, topic and order_key by
-- (created_at, id). Those that wait for an event which is not leased here as
-- well are put off until SettleEvents or `idemgen outbox` lets them go. Each
-- statement sees what was committed before it began; since the rows are locked
-- by then, the end of the event ahead is either seen here, or waits for the
-- lock and then lets them go. They are returned too, without an owner: where they
-- took all the room, there may be more. Hence READ COMMITTED, and a function. Its plans read
-- indexes whatever the statistics say; jit would take such costs for real work.
CREATE FUNCTION idem.claim_events(claimer text, lease interval, patterns text[], rooms integer[])
  RETURNS SETOF idem.outbox
  LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $$
DECLARE
  subject text := '';
  subjects text[] := '{}';
  fit integer;
  taken integer;
  ordered boolean;
  in_order boolean := false;
  scopes text[];
  ids uuid[];
  all_scopes text[] := '{}';
  all_ids uuid[] := '{}';
BEGIN
  LOOP
    SELECT o.topic INTO subject FROM idem.outbox o
    WHERE o.status = 'PENDING' AND o.topic > subject ORDER BY o.topic LIMIT 1;
    EXIT WHEN NOT FOUND;
    subjects := subjects || subject;
  END LOOP;
  FOR subject, fit IN
    SELECT t.name, (SELECT p.i FROM unnest(patterns) WITH ORDINALITY AS p (pattern, i)
      WHERE p.pattern = t.name OR right(p.pattern, 1) = '*' AND starts_with(t.name, left(p.pattern, -1))
      ORDER BY p.pattern = t.name DESC, length(p.pattern) DESC LIMIT 1)
    FROM unnest(subjects) AS t (name) ORDER BY random()
  LOOP
    CONTINUE WHEN fit IS NULL OR rooms[fit] <= 0;
    WITH victim AS MATERIALIZED (
      SELECT o.scope, o.id FROM idem.outbox o
      WHERE o.status = 'PENDING' AND o.topic = subject AND o.due_at <= (SELECT clock_timestamp())
      ORDER BY o.due_at
      LIMIT rooms[fit]
      FOR UPDATE SKIP LOCKED
    ), leased AS (
      UPDATE idem.outbox o
      SET lease_owner = claimer, lease_until = u.at, due_at = u.at, attempt = o.attempt + 1
      FROM victim v, (SELECT clock_timestamp() + lease AS at) u
      WHERE o.scope = v.scope AND o.id = v.id
      RETURNING o.scope, o.id, o.order_key
    )
    SELECT count(*), coalesce(bool_or(l.order_key IS NOT NULL), false), array_agg(l.scope), array_agg(l.id)
    INTO taken, ordered, scopes, ids FROM leased l;
    CONTINUE WHEN taken = 0;
    rooms[fit] := rooms[fit] - taken;
    in_order := in_order OR ordered;
    all_scopes := all_scopes || scopes;
    all_ids := all_ids || ids;
  END LOOP;
  IF in_order THEN
    UPDATE idem.outbox o
    SET lease_owner = NULL, lease_until = NULL, due_at = 'infinity', attempt = o.attempt - 1
    FROM (
      SELECT DISTINCT l.scope, l.topic, l.order_key FROM unnest(all_scopes, all_ids) AS c (scope, id)
      JOIN idem.outbox l ON l.scope = c.scope AND l.id = c.id WHERE l.order_key IS NOT NULL
    ) k CROSS JOIN LATERAL (
      SELECT p.created_at, p.id FROM idem.outbox p
      WHERE p.scope = k.scope AND p.topic = k.topic AND p.order_key = k.order_key
        AND p.status <> 'PROCESSED' AND p.lease_owner IS DISTINCT FROM claimer
      ORDER BY p.created_at, p.id LIMIT 1
    ) ahead
    WHERE o.scope = k.scope AND o.topic = k.topic AND o.order_key = k.order_key
      AND o.status = 'PENDING' AND o.lease_owner = claimer
      AND (o.created_at, o.id) > (ahead.created_at, ahead.id);
  END IF;
  RETURN QUERY
    SELECT o.* FROM unnest(all_scopes, all_ids) AS c (scope, id)
    JOIN idem.outbox o ON o.scope = c.scope AND o.id = c.id
    ORDER BY o.created_at, o.id;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP SCHEMA idem CASCADE;

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
  PRIMARY KEY (scope, id)
) WITH (
  vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

-- A key is one event's of its scope. POSIX compares as C does, but is another name:
-- to a planner that takes the table for empty, any index that knows scopes would be
-- as good as the primary key to look for (scope, id) in.
CREATE UNIQUE INDEX outbox_key ON idem.outbox (key, scope COLLATE "POSIX");
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

CREATE INDEX work_due ON idem.work (operation, greatest(due_at, lease_until)) WHERE due_at IS NOT NULL AND NOT held;
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
-- well are put off until settle_events or `idemgen outbox` lets them go. Each
-- statement sees what was committed before it began; since the rows are locked
-- by then, the end of the event ahead is either seen here, or waits for the
-- lock and then lets them go: hence READ COMMITTED. They are returned too, without
-- an owner: where they took all the room, there may be more.
--
-- Rows are updated one by one, by the primary key. In a join a planner that takes
-- the table for empty, since it was when it was last analyzed, would read all of
-- it for each of them; nor does the status tell them, for which there are indexes.
CREATE FUNCTION idem.claim_events(claimer text, lease interval, patterns text[], rooms integer[])
  RETURNS SETOF idem.outbox
  LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $$
DECLARE
  subject text := '';
  subjects text[] := '{}';
  fit integer;
  victim record;
  ahead record;
  e idem.outbox;
  was idem.outbox;
  in_order idem.outbox[] := '{}';
  until timestamptz := clock_timestamp() + lease;
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
    FOR victim IN
      SELECT o.scope, o.id FROM idem.outbox o
      WHERE o.status = 'PENDING' AND o.topic = subject AND o.due_at <= (SELECT clock_timestamp())
      ORDER BY o.due_at
      LIMIT rooms[fit]
      FOR UPDATE SKIP LOCKED
    LOOP
      UPDATE idem.outbox o SET lease_owner = claimer, lease_until = until, due_at = until, attempt = o.attempt + 1
      WHERE o.scope = victim.scope AND o.id = victim.id RETURNING o.* INTO e;
      rooms[fit] := rooms[fit] - 1;
      IF e.order_key IS NULL THEN
        RETURN NEXT e;
      ELSE
        in_order := in_order || e;
      END IF;
    END LOOP;
  END LOOP;
  FOR e IN SELECT * FROM unnest(in_order) u ORDER BY u.scope, u.topic, u.order_key, u.created_at, u.id LOOP
    IF (e.scope, e.topic, e.order_key) IS DISTINCT FROM (was.scope, was.topic, was.order_key) THEN
      SELECT p.created_at, p.id INTO ahead FROM idem.outbox p
      WHERE p.scope = e.scope AND p.topic = e.topic AND p.order_key = e.order_key
        AND p.status <> 'PROCESSED' AND p.lease_owner IS DISTINCT FROM claimer
      ORDER BY p.created_at, p.id LIMIT 1;
      was := e;
    END IF;
    IF (e.created_at, e.id) > (ahead.created_at, ahead.id) THEN
      UPDATE idem.outbox o SET lease_owner = NULL, lease_until = NULL, due_at = 'infinity', attempt = o.attempt - 1
      WHERE o.scope = e.scope AND o.id = e.id RETURNING o.* INTO e;
    END IF;
    RETURN NEXT e;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- renew_leases makes leases end later, and returns the events whose lease it was
-- able to renew: the others have another owner, or were settled by an operator.
CREATE FUNCTION idem.renew_leases(lease interval, scopes text[], ids text[], owners text[], attempts integer[])
  RETURNS SETOF text
  LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off AS $$
DECLARE
  until timestamptz := clock_timestamp() + lease;
BEGIN
  FOR i IN 1 .. cardinality(ids) LOOP
    UPDATE idem.outbox o SET lease_until = until, due_at = until
    WHERE o.scope = scopes[i] AND o.id = ids[i]::uuid
      AND o.lease_owner = owners[i] AND o.attempt = attempts[i];
    IF FOUND THEN
      RETURN NEXT ids[i];
    END IF;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- settle_events ends leases: as PROCESSED, as DEAD, or as PENDING again after a
-- wait in microseconds. A late owner changes nothing. It returns those that were
-- settled. Where an event was the last of its order_key in the hands of its owner,
-- those behind it are let go. The first is updated whether it was put off or not:
-- where it is being put off at this moment it is locked, and is let go after that.
CREATE FUNCTION idem.settle_events(scopes text[], ids text[], owners text[], attempts integer[], statuses text[],
    waits bigint[], faileds integer[], answers integer[], answer_heads text[], answer_bodies text[], reasons text[], lasts boolean[])
  RETURNS SETOF text
  LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $$
DECLARE
  e record;
  behind record;
  place integer;
BEGIN
  FOR i IN 1 .. cardinality(ids) LOOP
    UPDATE idem.outbox o SET
      status = statuses[i], lease_owner = NULL, lease_until = NULL,
      due_at = CASE WHEN statuses[i] = 'PENDING' THEN clock_timestamp() + waits[i] * interval '1 microsecond' ELSE o.due_at END,
      failures = o.failures + faileds[i],
      processed_at = CASE WHEN statuses[i] = 'PROCESSED' THEN clock_timestamp() END,
      answer_status = CASE WHEN answers[i] > 0 THEN answers[i] ELSE o.answer_status END,
      answer_headers = CASE WHEN answers[i] > 0 THEN nullif(answer_heads[i], '')::jsonb ELSE o.answer_headers END,
      answer_body = CASE WHEN answers[i] > 0 THEN nullif(answer_bodies[i], '') ELSE o.answer_body END,
      reason = CASE WHEN statuses[i] = 'PROCESSED' THEN NULL ELSE coalesce(nullif(reasons[i], ''), o.reason) END
    WHERE o.scope = scopes[i] AND o.id = ids[i]::uuid
      AND o.lease_owner = owners[i] AND o.attempt = attempts[i]
    RETURNING o.scope, o.topic, o.order_key INTO e;
    CONTINUE WHEN NOT FOUND;
    RETURN NEXT ids[i];
    IF lasts[i] AND statuses[i] = 'PROCESSED' AND e.order_key IS NOT NULL THEN
      place := 0;
      FOR behind IN
        SELECT b.id, b.due_at FROM idem.outbox b
        WHERE b.scope = e.scope AND b.topic = e.topic AND b.order_key = e.order_key
          AND b.status <> 'PROCESSED'
        ORDER BY b.created_at, b.id LIMIT 20
      LOOP
        place := place + 1;
        CONTINUE WHEN place > 1 AND behind.due_at < 'infinity';
        UPDATE idem.outbox n SET due_at = CASE WHEN n.due_at = 'infinity' THEN clock_timestamp() ELSE n.due_at END
        WHERE n.scope = e.scope AND n.id = behind.id;
      END LOOP;
    END IF;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP SCHEMA idem CASCADE;

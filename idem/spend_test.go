package idem

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The operations of the schedules: each takes an amount out of a slot's budget,
// by a guarded UPDATE, so that a second run shows in two ways: it counts, or it
// finds too little left. A trigger fails on demand, as often as table fault says.
const spendTables = `
CREATE TABLE slots (id bigint PRIMARY KEY, budget bigint NOT NULL, effects bigint NOT NULL DEFAULT 0);
CREATE TABLE fault (code text NOT NULL, times bigint NOT NULL, tab text NOT NULL DEFAULT '', rule text NOT NULL DEFAULT '');
INSERT INTO fault VALUES ('', 0);
CREATE SEQUENCE faults;
CREATE FUNCTION fail_slot() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE f fault;
BEGIN
  SELECT * INTO f FROM fault;
  IF f.code <> '' AND nextval('faults') <= f.times THEN
    RAISE EXCEPTION 'secret' USING ERRCODE = f.code, SCHEMA = 'public', TABLE = f.tab, CONSTRAINT = f.rule;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER fail_slot BEFORE UPDATE ON slots FOR EACH ROW EXECUTE FUNCTION fail_slot();
`

const (
	spendSlot  = `UPDATE slots SET budget = budget - $2, effects = effects + 1 WHERE (id = $1 AND budget >= $2)`
	spendGated = spendSlot + ` AND (SELECT open FROM idem_gate) RETURNING *`
	slotRow    = `SELECT d.id, d.effects, d.budget`
)

var tooLittle = Problem{Status: 409, Code: "too_little", Title: "not enough is left"}

// spendErrors are the declared ones: of a constraint, and of a SQLSTATE.
var spendErrors = []ErrorRule{
	{Constraint: "slot_rule", Problem: Problem{Status: 402, Code: "slot_rule"}},
	{SQLState: "ZZ001", Problem: Problem{Status: 403, Code: "state_rule"}},
}

func spend(name Name, strategy Strategy, wait time.Duration) *Operation {
	return &Operation{
		Name: name, Method: http.MethodPost, Path: "/v1/spend", Status: 201, Strategy: strategy,
		Key: Key{From: KeyHeader, Required: true}, Policy: shopPolicy(wait),
		Fields: []Field{
			{From: FromBody, Name: "slot", Kind: KindInt8, Required: true},
			{From: FromBody, Name: "amount", Kind: KindInt8, Required: true},
		},
	}
}

// spendFused records @empty in the statement.
func spendFused(name Name, wait time.Duration) *Operation {
	op := spend(name, Fused, wait)
	args, limit := append(fieldArgs(0, 1), keyArgs...), millis(wait)
	if wait == 0 {
		args, limit = append(args, Arg{From: ArgLock}), ""
	}
	op.SQL = fusedSQL("shop."+string(name), spendGated, slotRow, "NULL::jsonb", "", 2, len(args)+1, limit)
	op.Steps = []Step{{Name: "Spend", Args: append(args, emptyArgs...),
		Empty: Empty{Problem: &tooLittle}, Errors: spendErrors, Writes: []string{"public.slots"}}}
	return op
}

// spendRefusing undoes the statement where there is no row, and records @empty by
// a second one.
func spendRefusing(name Name) *Operation {
	op := spendFused(name, patienceTime)
	op.SQL = strings.Replace(op.SQL, "CASE WHEN d.hit IS NULL THEN $7::text ", "CASE WHEN d.hit IS NULL THEN idem.refuse('@empty') || $7::text ", 1)
	return op
}

// spendVerbatim has the sections of takeJob around its own statement.
func spendVerbatim(name Name, wait time.Duration) *Operation {
	op := spend(name, Verbatim, wait)
	sections, _, _ := strings.Cut(takeJob().SQL, "-- statement: keyed")
	op.SQL = strings.ReplaceAll(sections, "shop.TakeJob", "shop."+string(name)) + `
-- statement: keyed
WITH idem_done AS (
  ` + spendSlot + ` RETURNING *
), idem_answer AS MATERIALIZED (
  SELECT (CASE WHEN d.hit IS NULL THEN 409 ELSE 201 END)::smallint AS status,
    CASE WHEN d.hit IS NULL THEN $6::jsonb END AS headers,
    CASE WHEN d.hit IS NULL THEN $5::text ELSE (SELECT row_to_json(o)::text FROM (` + slotRow + `) o) END AS body
  FROM (SELECT 1) o LEFT JOIN (SELECT true AS hit, x.* FROM idem_done x LIMIT 1) d ON true
), idem_recorded AS (
  UPDATE idem.keys k SET status = a.status, headers = a.headers, body = a.body,
    expires_at = CASE WHEN a.status = 201 THEN k.expires_at ELSE clock_timestamp() + interval '2 hours' END
  FROM idem_answer a WHERE k.scope = $3 AND k.digest = $4
)
SELECT false, a.status, a.headers::text, a.body, NULL::bytea FROM idem_answer a;
`
	op.Steps = []Step{{Name: "Spend", Prior: keyArgs[:2], Claim: keyArgs, Args: append(fieldArgs(0, 1), keyArgs[0], keyArgs[1], emptyArgs[0], emptyArgs[1]),
		Empty: Empty{Problem: &tooLittle}, Errors: spendErrors, Writes: []string{"public.slots"}}}
	return waitingFor(op, wait)
}

func spendStepped(name Name, isolation Isolation, wait time.Duration) *Operation {
	op := spend(name, Stepped, wait)
	op.Policy.Isolation = isolation
	op.SQL = `
-- statement: step.Spend
WITH d AS (` + spendSlot + ` RETURNING *)
SELECT (SELECT row_to_json(o)::text FROM (` + slotRow + `) o) FROM d;
`
	op.Steps = []Step{{Name: "Spend", Section: "step.Spend", Args: fieldArgs(0, 1), Results: Results{Row: true},
		Empty: Empty{Problem: &tooLittle}, Errors: spendErrors, Writes: []string{"public.slots"}}}
	op.Answer = Answer{Kind: "step"}
	return op
}

// spenders are the strategies, each as a maker of an operation with a name.
func spenders() map[string]func(Name) *Operation {
	stepped := func(level Isolation, wait time.Duration) func(Name) *Operation {
		return func(name Name) *Operation { return spendStepped(name, level, wait) }
	}
	return map[string]func(Name) *Operation{
		"fused":                   func(name Name) *Operation { return spendFused(name, patienceTime) },
		"fused, refusing":         spendRefusing,
		"fused, reject":           func(name Name) *Operation { return spendFused(name, 0) },
		"verbatim":                func(name Name) *Operation { return spendVerbatim(name, patienceTime) },
		"verbatim, reject":        func(name Name) *Operation { return spendVerbatim(name, 0) },
		"stepped":                 stepped(ReadCommitted, patienceTime),
		"stepped, reject":         stepped(ReadCommitted, 0),
		"repeatable read":         stepped(RepeatableRead, patienceTime),
		"repeatable read, reject": stepped(RepeatableRead, 0),
		"serializable":            stepped(Serializable, patienceTime),
		"serializable, reject":    stepped(Serializable, 0),
	}
}

func spendBody(slot, amount int64) string {
	return fmt.Sprintf(`{"slot": %d, "amount": %d}`, slot, amount)
}

package idem

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// twinKind is a write that finds something else once a twin of it is done.
type twinKind struct {
	slot string // SQL that makes the table what it is before
	// write takes its gate, or TRUE, in the place of {gate}.
	write   string
	require bool   // of its column enough
	effects string // query
}

const oneEffect = "SELECT effects FROM slots WHERE id = 1"

var twinKinds = map[string]twinKind{
	"guarded UPDATE": {
		slot:    "INSERT INTO slots VALUES (1, 25)",
		write:   "UPDATE slots SET budget = budget - $2, effects = effects + 1 WHERE (id = $1 AND budget >= $2) AND {gate} RETURNING *",
		effects: oneEffect,
	},
	"DELETE": {
		slot:    "INSERT INTO slots VALUES (1, 25)",
		write:   "DELETE FROM slots WHERE (id = $1 AND $2::bigint > 0) AND {gate} RETURNING *",
		effects: "SELECT 1 - count(*) FROM slots",
	},
	"ON CONFLICT DO NOTHING": {
		write:   "INSERT INTO slots (id, budget) SELECT $1::bigint, $2::bigint WHERE {gate} ON CONFLICT DO NOTHING RETURNING *",
		effects: "SELECT count(*) FROM slots",
	},
	"CHECK": {
		slot:    "INSERT INTO slots VALUES (1, 25); ALTER TABLE slots DROP CONSTRAINT IF EXISTS slot_rule, ADD CONSTRAINT slot_rule CHECK (budget >= 0)",
		write:   "UPDATE slots SET budget = budget - $2, effects = effects + 1 WHERE (id = $1) AND {gate} RETURNING *",
		effects: oneEffect,
	},
	"@require": {
		slot:    "INSERT INTO slots VALUES (1, 25)",
		write:   "UPDATE slots SET budget = budget - $2, effects = effects + 1 WHERE (id = $1) AND {gate} RETURNING *, budget >= 0 AS enough",
		require: true, effects: oneEffect,
	},
}

// onto puts the write, and its requirement, in the place of an operation's own.
func (k twinKind) onto(op *Operation) *Operation {
	gated := strings.ReplaceAll(k.write, "{gate}", "(SELECT open FROM idem_gate)")
	plain := strings.ReplaceAll(k.write, "{gate}", "TRUE")
	op.SQL = strings.NewReplacer(spendGated, gated, spendSlot+" RETURNING *", plain).Replace(op.SQL)
	if !k.require {
		return op
	}
	const refuse = " WHEN d.enough IS NOT TRUE THEN idem.refuse('enough')"
	op.SQL = strings.NewReplacer("THEN $7::text ", "THEN $7::text"+refuse+" ", "THEN $5::text ELSE", "THEN $5::text"+refuse+" ELSE",
		"FROM ("+slotRow+") o) FROM d;", "FROM ("+slotRow+") o), d.enough FROM d;").Replace(op.SQL)
	step := &op.Steps[0]
	step.Requires, step.RequireNames = []Problem{{402, "overdrawn", ""}}, []string{"enough"}
	if op.Strategy == Stepped {
		step.Results.Requires = 1
	}
	return op
}

// stopWrites lets every write to slots wait behind its row for the lock that
// holdWrites takes.
const (
	stopWrites = `CREATE FUNCTION stop_write() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
		CREATE TRIGGER stop_write AFTER INSERT OR UPDATE OR DELETE ON slots FOR EACH ROW EXECUTE FUNCTION stop_write()`
	holdWrites = "SELECT pg_advisory_xact_lock(1)"
)

// twinStrategies are those that wait for a twin.
var twinStrategies = []string{"fused", "fused, refusing", "verbatim", "stepped", "repeatable read", "serializable"}

// Pitfall 1: the winner has written and is stopped before its commit, the loser
// waits in another process. What the loser's write finds then, no row, a row
// that is there already, a violated rule, is no answer: it replays.
func TestPitfall_1_TheLoserReplaysWhateverItsWriteFinds(t *testing.T) {
	t.Parallel()
	for _, kind := range slices.Sorted(maps.Keys(twinKinds)) {
		k := twinKinds[kind]
		shops := twoShops(t, func() (ops []*Operation) {
			for i, strategy := range twinStrategies {
				ops = append(ops, k.onto(spenders()[strategy](spendName(i, 0))))
			}
			return ops
		}, spendTables, stopWrites)
		for i, strategy := range twinStrategies {
			t.Run(kind+" "+strategy, func(t *testing.T) {
				shops[0].exec(t, "DELETE FROM slots; "+k.slot)
				k.meet(t, shops, spendName(i, 0))
			})
		}
	}
}

// meet stops the first request in its write, and lets the second one run into it.
func (k twinKind) meet(t *testing.T, shops []*shop, name Name) {
	end := hold(t, shops[0].pool, holdWrites)
	answers := [2]chan *httptest.ResponseRecorder{}
	for i, s := range shops {
		answers[i] = make(chan *httptest.ResponseRecorder, 1)
		go func() { answers[i] <- s.post(name, "k", spendBody(1, 20)) }()
		awaitAllBlocked(t, shops[0], int64(i+1))
	}
	end(true)
	first, again := <-answers[0], <-answers[1]
	wantStatus(t, first, 201)
	sameAnswer(t, first, again)
	if n := shops[0].count(t, k.effects); n != 1 {
		t.Errorf("%d effects", n)
	}
	if n := shops[0].count(t, "SELECT count(*) FROM idem.keys WHERE status = 201 AND operation = 'shop.' || $1", name); n != 1 {
		t.Errorf("%d records", n)
	}
}

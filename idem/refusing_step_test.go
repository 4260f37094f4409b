package idem

import (
	"maps"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// refusingSteps are second steps that refuse, each in another way; the first one
// has written.
var refusingSteps = map[string]struct {
	sql  string
	step Step
	code int
	word string
}{
	"@require": {"SELECT budget >= 100 FROM slots WHERE id = $1",
		Step{Results: Results{Requires: 1}, Requires: []Problem{{402, "too_poor", ""}}, RequireNames: []string{"rich"}}, 402, "too_poor"},
	"@empty": {"SELECT 'null'::text FROM slots WHERE id = $1 AND budget >= 100",
		Step{Results: Results{Row: true}, Empty: Empty{Problem: &tooLittle}}, 409, "too_little"},
	"@empty of a command": {"UPDATE slots SET budget = 1 WHERE id = $1 AND budget >= 100",
		Step{Exec: true, Empty: Empty{Problem: &tooLittle}, Writes: []string{"public.slots"}}, 409, "too_little"},
	"@error": {"UPDATE slots SET budget = budget - 100 WHERE id = $1",
		Step{Exec: true, Errors: spendErrors, Writes: []string{"public.slots"}}, 402, "slot_rule"},
}

// A client error of a later step: the record is kept, what the steps ahead of it
// have written is gone.
func TestCase_store_2_behind_a_step_that_wrote(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables, spendTables+"INSERT INTO slots VALUES (1, 0); ALTER TABLE slots ADD CONSTRAINT slot_rule CHECK (budget >= 0)")
	for i, how := range slices.Sorted(maps.Keys(refusingSteps)) {
		for j, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable} {
			t.Run(how+" "+string(level), func(t *testing.T) { refuseBehind(t, pool, how, spendStepped(spendName(i, j), level, patienceTime)) })
		}
	}
}

func refuseBehind(t *testing.T, pool *pgxpool.Pool, how string, op *Operation) {
	refusal := refusingSteps[how]
	op.SQL += "\n-- statement: step.Refuse\n" + refusal.sql + ";\n"
	step := refusal.step
	step.Name, step.Section, step.Args = "Refuse", "step.Refuse", fieldArgs(0)
	op.Steps = append(op.Steps, step)
	s := openShop(t, pool, op)
	s.exec(t, "UPDATE slots SET budget = 25, effects = 0")
	first := s.post(op.Name, "k", spendBody(1, 20))
	wantCode(t, first, refusal.code, refusal.word)
	if n := s.count(t, "SELECT count(*) FROM slots WHERE budget = 25 AND effects = 0"); n != 1 {
		t.Error("the write ahead of the refusal is kept")
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE status = $1 AND operation = $2", refusal.code, "shop."+op.Name); n != 1 {
		t.Errorf("%d records", n)
	}
	s.exec(t, "UPDATE slots SET budget = 1000")
	sameAnswer(t, first, s.post(op.Name, "k", spendBody(1, 20)))
}

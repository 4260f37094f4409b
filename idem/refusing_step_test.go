package idem

import (
	"maps"
	"net/http"
	"slices"
	"strings"
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

// Headers of one connection or one client, where the SQL of one statement has
// them all the same: no client gets them, neither at first nor by a replay.
func TestCase_replay_2_one_statement(t *testing.T) {
	var listed []string
	for _, name := range unfit {
		listed = append(listed, "'"+strings.ToLower(name)+"', 'never'")
	}
	object := "jsonb_build_object(" + strings.Join(listed, ", ") + ", 'Location', '/x')"
	fused, verbatim := createPayment("Create", patience, true), takeJob()
	fused.SQL = strings.ReplaceAll(fused.SQL, "jsonb_build_object('Location', '/v1/payments/' || d.id)", object)
	verbatim.SQL = strings.Replace(verbatim.SQL, "THEN $4::jsonb END AS headers", "THEN $4::jsonb ELSE "+object+" END AS headers", 1)
	s := newOddShop(t, fused, verbatim)
	for _, op := range []*Operation{fused, verbatim} {
		first, again := s.post(op.Name, "k", bodyFor(op.Name)), s.post(op.Name, "k", bodyFor(op.Name))
		wantStatus(t, first, op.Status)
		sameAnswer(t, first, again)
		for _, header := range []http.Header{first.Header(), again.Header()} {
			if header.Get("Location") != "/x" {
				t.Errorf("%s: %v", op.Name, header)
			}
			for name, values := range header {
				if slices.Contains(values, "never") {
					t.Errorf("%s: %s is sent", op.Name, name)
				}
			}
		}
	}
}

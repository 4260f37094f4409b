package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/model"
)

// recorders are the ways in which a record comes to be, each over an INSERT.
func recorders(t *testing.T) map[string]*Operation {
	watched := watched()
	watched.sql = "INSERT INTO watched (name) VALUES (@name) RETURNING name"
	plain := step{name: "Line", command: "one", sql: "INSERT INTO lines VALUES (1, @name, 1) RETURNING sku AS name", returns: "name text"}
	return map[string]*Operation{
		"fused":    planned(t, operation(t, "Line", forced, plain)),
		"verbatim": planned(t, operation(t, "Watched", forced, watched)),
	}
}

// Pitfall 27: a record counts from when it is written, by the clock, and not
// from where its transaction began.
func TestPitfall_27_RecordsCountFromTheClock(t *testing.T) {
	for name, op := range recorders(t) {
		for _, section := range []string{"keyed", "forced"} {
			t.Run(name+" "+section, func(t *testing.T) {
				s := fresh(t, tables)
				s.exec("BEGIN")
				before := s.text("SELECT clock_timestamp()::text FROM pg_sleep(0.05)")
				sections := []string{section}
				if section == "keyed" && op.Strategy == Verbatim {
					sections = []string{"claim", "keyed"}
				}
				for _, name := range sections {
					if _, err := s.send(op.section(t, name), "k", values{"name": "x"}); err != nil {
						t.Fatal(err)
					}
				}
				s.exec("COMMIT")
				s.equal(s.text("SELECT expires_at >= '"+before+"'::timestamptz + interval '24 h' FROM idem.keys"), "t")
			})
		}
	}
}

// Pitfall 27 for those that end: a record that expired after the transaction
// began is no record.
func TestPitfall_27_RecordsEndByTheClock(t *testing.T) {
	for name, op := range recorders(t) {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, tables)
			in := values{"name": "x"}
			s.must(op, "k", in)
			s.exec("BEGIN")
			s.exec("UPDATE idem.keys SET expires_at = clock_timestamp() FROM pg_sleep(0.05)")
			if op.Strategy == Fused {
				s.equal(s.must(op, "k", in).replayed, "<null>")
				s.exec("ROLLBACK")
				return
			}
			if rows, err := s.send(op.section(t, "prior"), "k", in); err != nil || len(rows) > 0 {
				t.Errorf("prior: %v, %v", rows, err)
			}
			if _, err := s.send(op.section(t, "claim"), "k", in); err != nil {
				t.Errorf("claim: %v", err)
			}
			s.exec("ROLLBACK")
		})
	}
}

// scope-1: the same key in another scope is another request, whatever comes
// first, and neither touches the other's record.
func TestCase_scope_1_RecordsOfOtherScopesAreNotSeen(t *testing.T) {
	for name, op := range recorders(t) {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, tables)
			ours, theirs := values{"name": "ours"}, values{"name": "theirs", scopeOf: "t2"}
			s.equal(s.must(op, "k", ours).body, `{"name":"ours"}`)
			first := s.must(op, "k", theirs)
			s.equal(first.replayed+first.body, `f{"name":"theirs"}`)
			const records = "SELECT string_agg(scope || ' ' || body || ' ' || attempt, ' ' ORDER BY scope) FROM idem.keys"
			s.equal(s.text(records), `t1 {"name":"ours"} 1 t2 {"name":"theirs"} 1`)
			s.equal(s.must(op, "k", ours).body, `{"name":"ours"}`)
			s.equal(s.must(op, "k", theirs).body, `{"name":"theirs"}`)
			s.force(op, "k", values{"name": "again", scopeOf: "t2"})
			s.equal(s.text(records), `t1 {"name":"ours"} 1 t2 {"name":"again"} 2`)
			s.must(op, "k2", ours)
			s.exec("UPDATE idem.keys SET expires_at = clock_timestamp() WHERE scope = 't1'")
			s.equal(s.must(op, "k", theirs).body, `{"name":"again"}`)
			s.must(op, "k2", theirs) // a claim removes what has expired under its own scope alone
			s.equal(s.text("SELECT string_agg(scope || key, ' ' ORDER BY scope, key) FROM idem.keys"), "t1k t1k2 t2k t2k2")
		})
	}
}

// A row of nothing but NULLs is a row: its record is a success's.
func TestPitfall_14_NullRowsAreKeptAsSuccesses(t *testing.T) {
	for _, locked := range []bool{false, true} {
		s := fresh(t, tables, "INSERT INTO lines VALUES (1, 'x', 1)")
		op := planned(t, operation(t, "Touch", nil, step{name: "Touch", command: "one",
			sql: "UPDATE lines SET qty = qty + 1 WHERE payment_id = @n<bigint> RETURNING NULL::text AS nothing", returns: "nothing text?",
			change: func(s *model.Step) { s.Query.Shape.SkipLocked = locked }}))
		if (op.Strategy == Verbatim) != locked {
			t.Errorf("strategy %s", op.Strategy)
		}
		s.equal(s.must(op, "k", values{"n": "1"}).status, "201")
		s.equal(s.text("SELECT expires_at - created_at > '23 h' FROM idem.keys"), "t")
		s.equal(s.must(op, "k2", values{"n": "2"}).status, "409")
		s.equal(s.text("SELECT expires_at - created_at < '3 h' FROM idem.keys WHERE key = 'k2'"), "t")
	}
}

// Times to keep are intervals that every supported server takes.
func TestIntervals(t *testing.T) {
	s := fresh(t)
	for d, want := range map[time.Duration]string{
		time.Hour: "interval '1 hour'", 24 * time.Hour: "interval '24 hours'", 90 * time.Second: "interval '90 seconds'",
		1500 * time.Millisecond: "interval '1.5 seconds'", 720*time.Hour + 500*time.Microsecond: "interval '2592000.0005 seconds'",
	} {
		got := interval(d)
		if got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
		s.equal(s.text("SELECT extract(epoch FROM "+got+")::numeric = "+fmt.Sprintf("%.6f", d.Seconds())), "t")
	}
}

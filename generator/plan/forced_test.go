package plan

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func forced(op *model.Operation) { op.Policy.ForceRetry = true }

// force sends the section "forced".
func (s *server) force(op *Operation, key string, in values) reply {
	s.t.Helper()
	rows, err := s.send(op.section(s.t, "forced"), key, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return *s.reply(rows)
}

const recordOf = "SELECT status || ' ' || attempt || ' ' || body FROM idem.keys"

// A forced run replaces the record, of whatever strategy, also where there is
// none; the next plain request gets the new one.
func TestForcedReplacesTheRecord(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CopyLines", forced, step{name: "Touch", command: "one",
		sql: "INSERT INTO lines VALUES (@n<bigint>, 'x', 1) RETURNING payment_id AS n", returns: "n bigint"}))
	first := s.force(op, "k", values{"n": "1"})
	s.equal(first.replayed+first.status+first.body, `f201{"n":1}`)
	s.equal(s.must(op, "k", values{"n": "1"}).replayed, "t")
	s.exec("UPDATE idem.keys SET created_at = '2000-01-01', expires_at = clock_timestamp() + interval '1 s'")
	s.equal(s.force(op, "k", values{"n": "2"}).body, `{"n":2}`)
	again := s.must(op, "k", values{"n": "1"})
	s.equal(again.replayed+again.body, `t{"n":2}`)
	s.equal(s.text("SELECT count(*) FROM lines"), "2")
	s.equal(s.text("SELECT attempt || ' ' || (created_at > '2001-01-01') || ' ' || (expires_at > clock_timestamp() + interval '23 h') FROM idem.keys"), "2 true true")
}

// A forced run whose statement finds no row keeps the record, and makes one only
// where there is none or an expired one.
func TestForcedThatDoesNothingKeepsTheRecord(t *testing.T) {
	for name, op := range map[string]*Operation{
		"fused":    planned(t, operation(t, "CapturePayment", forced, capturePayment())),
		"verbatim": planned(t, operation(t, "TakeJob", forced, takeJob())),
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5)")
			in := values{"tenant_id": "t1", "order_id": "o"}
			s.equal(s.must(op, "k", in).replayed, "f")
			before := s.text(recordOf)
			s.exec("DELETE FROM payments")
			failed := s.force(op, "k", in)
			s.equal(failed.headers+failed.body, problemHeaders+problemBody)
			s.equal(s.text(recordOf), before)
			s.exec("UPDATE idem.keys SET expires_at = clock_timestamp()")
			s.force(op, "k", in)
			s.equal(s.text("SELECT body || (expires_at > clock_timestamp() + interval '1 h') FROM idem.keys"), problemBody+"true")
			s.force(op, "new", in)
			s.equal(s.text("SELECT body FROM idem.keys WHERE key = 'new'"), problemBody)
		})
	}
}

// Until the commit of a forced run, duplicates are answered with the old record.
func TestForcedLeavesTheRecordToDuplicates(t *testing.T) {
	url := idemtest.URL(t, tables)
	a, b := serve(t, url), serve(t, url)
	op := planned(t, operation(t, "CreatePayment", forced, createPayment()))
	first := b.must(op, "k", paymentIn)
	a.exec("BEGIN")
	second := a.force(op, "k", values{"tenant_id": "t1", "order_id": "other", "amount": "5"})
	beside := b.must(op, "k", paymentIn)
	b.equal(beside.replayed+beside.body, "t"+first.body)
	a.exec("COMMIT")
	b.equal(b.must(op, "k", paymentIn).body, second.body)
}

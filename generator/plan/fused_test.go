package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

var paymentIn = values{"tenant_id": "t1", "order_id": "a/b", "amount": "5"}

func TestFusedRunsOnceAndReplays(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CreatePayment", location, createPayment()))
	first := s.must(op, "k1", paymentIn)
	if first.replayed != "f" || first.status != "201" || !strings.HasPrefix(first.body, `{"id":1,"order_id":"a/b","amount":"5.00","note":null,"created_at":"20`) {
		t.Errorf("first: %+v", first)
	}
	s.equal(first.headers, `{"Location": "/payments/a%2Fb"}`)
	second := s.must(op, "k1", paymentIn)
	s.equal(second.body, first.body)
	s.equal(second.headers, first.headers)
	if second.replayed != "t" || second.status != "201" || second.fingerprint != `\x01` {
		t.Errorf("second: %+v", second)
	}
	s.equal(s.text("SELECT count(*) FROM payments"), "1")
	s.equal(s.text("SELECT concat_ws(' ', scope, operation, key, expires_at - created_at > '23 h 59 min') FROM idem.keys"), "t1 shop.CreatePayment k1 t")
}

// An expired record is answered as NULL and stops every write: the runtime
// deletes it and sends the statement again.
func TestFusedTellsOfAnExpiredRecord(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CreatePayment", nil, createPayment()))
	s.must(op, "k1", paymentIn)
	s.exec("UPDATE idem.keys SET expires_at = clock_timestamp()")
	in := values{"tenant_id": "t1", "order_id": "other", "amount": "6"}
	s.equal(s.must(op, "k1", in).replayed, "<null>")
	s.equal(s.text("SELECT count(*) FROM payments"), "1")
	s.exec("DELETE FROM idem.keys WHERE expires_at <= clock_timestamp()")
	s.equal(s.must(op, "k1", in).replayed, "f")
	s.equal(s.text("SELECT count(*) FROM payments"), "2")
	s.equal(s.text("SELECT count(*) FROM idem.keys WHERE expires_at > clock_timestamp()"), "1")
}

// A duplicate of a guarded UPDATE waits, then finds the row changed by its
// twin: it must not be told that it is gone.
func TestPitfall_1_TwinOfAGuardedUpdate(t *testing.T) {
	url := idemtest.URL(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5)")
	a, b, eye := serve(t, url), serve(t, url), serve(t, url)
	op := planned(t, operation(t, "CapturePayment", nil, capturePayment()))
	in := values{"tenant_id": "t1", "order_id": "o"}
	a.exec("BEGIN")
	a.equal(a.must(op, "k", in).status, "201")
	done := make(chan error)
	go func() {
		_, err := b.send(op.section(t, "keyed"), "k", in)
		done <- err
	}()
	eye.blocked()
	a.exec("COMMIT")
	if state, constraint := code(<-done); state != "23505" || constraint != "keys_pkey" {
		t.Errorf("the twin: %s %s", state, constraint)
	}
	again := b.must(op, "k", in)
	b.equal(again.replayed+again.status, "t201")
}

func TestPitfall_2_EmptyIsRecorded(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CapturePayment", nil, capturePayment()))
	in := values{"tenant_id": "t1", "order_id": "o"}
	first := s.must(op, "k", in)
	s.equal(first.status+first.body, "409"+problemBody)
	s.equal(first.headers, problemHeaders)
	s.equal(s.text("SELECT expires_at - created_at BETWEEN '1 h 59 min' AND '2 h 1 min' FROM idem.keys"), "t")
	s.exec("INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5)")
	late := s.must(op, "k", in)
	s.equal(late.replayed+late.status+late.body, "t409"+problemBody)
	s.equal(s.text("SELECT status FROM payments"), "authorized")
}

func TestStatusKeepsTheWritesAndTheRecord(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 500)")
	op := planned(t, operation(t, "CapturePayment", nil, capturePayment()))
	first := s.must(op, "k", values{"tenant_id": "t1", "order_id": "o"})
	s.equal(first.status+first.body, `202{"id":1,"status":"captured"}`)
	s.equal(s.text("SELECT expires_at - created_at > '23 h' FROM idem.keys"), "t")
}

// A guard that nobody reads would not be executed.
func TestPitfall_16_RequireUndoesEverything(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5000)")
	for _, body := range []bool{true, false} {
		op := planned(t, operation(t, "CapturePayment", func(op *model.Operation) { op.Policy.RecordBody = body }, capturePayment()))
		_, err := s.run(op, "k", values{"tenant_id": "t1", "order_id": "o"})
		if state, constraint := code(err); state != "IDM01" || constraint != "allowed" {
			t.Errorf("%s %s", state, constraint)
		}
		s.equal(s.text("SELECT status || (SELECT count(*) FROM idem.keys) FROM payments"), "authorized0")
	}
}

// A requirement that is NULL is not met, whichever strategy runs.
func TestPitfall_16_NullIsNotMet(t *testing.T) {
	s := fresh(t, tables)
	guarded := func(skip bool) step {
		return step{name: "Guarded", command: "one", sql: "UPDATE lines SET qty = qty + 1 WHERE payment_id = 1 RETURNING sku, @met<bool?>::bool AS met", returns: "sku text, met bool?",
			change: func(s *model.Step) {
				s.Query.Shape.SkipLocked = skip
				s.Requires = []model.Require{{Column: "met", Problem: model.Problem{Status: 402}}}
			}}
	}
	fused, verbatim := planned(t, operation(t, "Guarded", forced, guarded(false))), planned(t, operation(t, "Guarded", forced, guarded(true)))
	many := guarded(false)
	many.command = "many"
	for name, op := range map[string]*Operation{"fused": fused, "verbatim": verbatim, "list": planned(t, operation(t, "Guarded", forced, many))} {
		for _, met := range []values{{}, {"met": "false"}, {"met": "true"}} {
			s.exec("TRUNCATE lines, idem.keys; INSERT INTO lines VALUES (1, 'x', 1)")
			want := "IDM01met1"
			if met["met"] == "true" {
				want = "<nil>2"
			}
			_, err := s.run(op, "k", met)
			state, constraint := code(err)
			s.equal(name+state+constraint+s.text("SELECT qty FROM lines"), name+want)
			s.exec("UPDATE lines SET qty = 1")
			_, err = s.send(op.section(t, "forced"), "k", met)
			state, constraint = code(err)
			s.equal(name+state+constraint+s.text("SELECT qty FROM lines"), name+want)
		}
	}
	stepped := planned(t, operation(t, "Two", nil, guarded(false), createPayment()))
	for met, want := range map[string]string{"": "f", "false": "f", "true": "t"} {
		in := values{"met": met}
		if met == "" {
			in = nil
		}
		rows, err := s.send(stepped.section(t, "step.Guarded"), "", in)
		if err != nil || len(rows) != 1 || rows[0][0] != want {
			t.Errorf("stepped, %q: %v, %v", met, rows, err)
		}
	}
}

func TestPitfall_7_WaitIsBoundedAndReverts(t *testing.T) {
	url := idemtest.URL(t, tables)
	a, b := serve(t, url), serve(t, url)
	op := planned(t, operation(t, "CreatePayment", func(op *model.Operation) { op.Policy.Wait = 20 * time.Millisecond }, createPayment()))
	a.exec("BEGIN")
	a.must(op, "k", paymentIn)
	_, err := b.run(op, "k", paymentIn)
	if state, _ := code(err); state != "55P03" {
		t.Errorf("after the wait: %v", err)
	}
	b.must(op, "k2", values{"tenant_id": "t1", "order_id": "other", "amount": "5"})
	b.equal(b.text("SHOW lock_timeout"), "0")
}

func TestPitfall_7_RejectDoesNotWait(t *testing.T) {
	url := idemtest.URL(t, tables)
	a, b := serve(t, url), serve(t, url)
	op := planned(t, operation(t, "CreatePayment", reject, createPayment()))
	a.exec("BEGIN")
	a.must(op, "k", paymentIn)
	if r, err := b.run(op, "k", paymentIn); err != nil || r != nil {
		t.Errorf("beside a running twin: %+v, %v", r, err)
	}
	a.exec("COMMIT")
	b.equal(b.must(op, "k", paymentIn).replayed, "t")
	a.exec("BEGIN")
	a.equal(a.must(op, "k", paymentIn).replayed, "t")
	b.equal(b.must(op, "k", paymentIn).replayed, "t") // replays don't exclude each other
}

// A cast to a type with a modifier would cut the value silently.
func TestPitfall_12_NothingIsCut(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CreatePayment", nil, createPayment()))
	_, err := s.run(op, "k", values{"tenant_id": "t1", "order_id": strings.Repeat("x", 41), "amount": "5"})
	if state, _ := code(err); state != "22001" {
		t.Errorf("41 characters: %v", err)
	}
}

// The same for every type that has a modifier, whichever section runs.
func TestPitfall_12_NoTypeIsCut(t *testing.T) {
	s := fresh(t, tables, "CREATE TABLE narrow (c char(3), v varchar(3), b bit(3), vb varbit(3), n numeric(4,2), vs varchar(3)[])")
	tests := []struct{ column, fits, wide, state string }{
		{"c", "abc", "abcd", "22001"},
		{"v", "abc", "abcd", "22001"},
		{"b", "101", "1011", "22026"},
		{"vb", "101", "1011", "22001"},
		{"n", "99.99", "100.00", "22003"},
		{"vs", "{abc}", "{abcd}", "22001"},
	}
	for _, tt := range tests {
		for _, source := range []string{"VALUES (@x)", "SELECT @x", "VALUES (@x), (NULL)"} {
			op := planned(t, operation(t, "Narrow", forced, step{name: "Narrow", command: "execrows", sql: "INSERT INTO narrow (" + tt.column + ") " + source}))
			s.exec("TRUNCATE narrow, idem.keys")
			s.must(op, "fits", values{"x": tt.fits})
			s.equal(s.text("SELECT "+tt.column+"::text FROM narrow WHERE "+tt.column+" IS NOT NULL"), tt.fits)
			_, err := s.run(op, "wide", values{"x": tt.wide})
			if state, _ := code(err); state != tt.state {
				t.Errorf("%s, %s: %v", tt.column, source, err)
			}
			_, err = s.send(op.section(t, "forced"), "wide", values{"x": tt.wide})
			if state, _ := code(err); state != tt.state {
				t.Errorf("%s, %s, forced: %v", tt.column, source, err)
			}
		}
	}
}

func TestPitfall_14_ManyRowsAndNullRows(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO lines VALUES (1, 'x', 1), (1, 'y', 1)")
	op := planned(t, operation(t, "Touch", nil, step{name: "Touch", command: "one",
		sql: "UPDATE lines SET qty = qty + 1 WHERE payment_id = @n<bigint> RETURNING NULL::text AS nothing", returns: "nothing text?"}))
	first := s.must(op, "k", values{"n": "1"})
	s.equal(first.status+first.body, `201{"nothing":null}`)
	s.equal(s.must(op, "k", values{"n": "1"}).replayed, "t")
	s.equal(s.text("SELECT sum(qty) FROM lines"), "4")
}

// replay-4: the first caller gets the whole answer, a retry finds a tombstone.
func TestCase_replay_4_OversizeIsATombstone(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CreatePayment", nil, createPayment()))
	in := values{"tenant_id": "t1", "order_id": "o", "amount": "5", "note": strings.Repeat("x", 1<<20)}
	if first := s.must(op, "k", in); len(first.body) < 1<<20 {
		t.Errorf("first: %d bytes", len(first.body))
	}
	again := s.must(op, "k", in)
	s.equal(again.replayed+again.status+again.body, "t201<null>")
	s.equal(s.text("SELECT count(*) FROM payments"), "1")
}

func TestRecordNoneKeepsATombstone(t *testing.T) {
	s := fresh(t, tables)
	secret := func(op *model.Operation) { op.Policy.RecordBody = false }
	op := planned(t, operation(t, "CreatePayment", secret, createPayment()))
	s.valid(s.must(op, "k", paymentIn).body)
	s.equal(s.must(op, "k", paymentIn).body, "<null>")
	capture := planned(t, operation(t, "CapturePayment", secret, capturePayment()))
	s.must(capture, "k2", values{"order_id": "none"})
	s.equal(s.must(capture, "k2", values{"order_id": "none"}).body, problemBody)
}

func TestListsAndCounts(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'a', 5), ('t1', 'b', 5)")
	lines := planned(t, operation(t, "CopyLines", nil, copyLines()))
	s.equal(s.must(lines, "k1", values{"tenant_id": "nobody", "sku": "s", "qty": "1"}).body, `{"items":[]}`)
	first := s.must(lines, "k2", values{"tenant_id": "t1", "sku": "s", "qty": "1"})
	s.equal(first.body, `{"items":[{"payment_id":1,"sku":"s"},{"payment_id":2,"sku":"s"}]}`)
	s.equal(s.must(lines, "k2", values{"tenant_id": "t1"}).replayed, "t")
	s.equal(s.text("SELECT count(*) FROM lines"), "2")

	remove := planned(t, operation(t, "DeleteCustomer", nil, deleteCustomer()))
	s.equal(s.must(remove, "k3", values{"tenant_id": "t1", "id": "c"}).status, "404")
	s.exec("INSERT INTO customers VALUES ('c', 't1', 'x')")
	s.equal(s.must(remove, "k3", values{"tenant_id": "t1", "id": "c"}).status, "404")
	gone := s.must(remove, "k4", values{"tenant_id": "t1", "id": "c"})
	s.equal(gone.status+gone.headers+gone.body, "204<null>")
	s.equal(s.must(remove, "k4", values{"tenant_id": "t1", "id": "c"}).body, "")
}

func TestOrderOfTheGateAndTheUsersOr(t *testing.T) {
	s := fresh(t, tables)
	for _, where := range []string{
		"qty = @n<integer> OR true",
		"qty = @n<integer>\nOR true",
		"qty = @n<integer> -- one\n  OR true -- all",
		"qty = @n<integer> OR true /* all */",
	} {
		s.exec("TRUNCATE lines, idem.keys")
		op := planned(t, operation(t, "Wipe", nil, step{name: "Wipe", command: "execrows", sql: "DELETE FROM lines WHERE " + where}))
		s.must(op, "k", values{"n": "1"})
		s.exec("INSERT INTO lines VALUES (1, 'x', 1)")
		s.equal(s.must(op, "k", values{"n": "1"}).replayed, "t")
		s.equal(s.text("SELECT count(*) FROM lines"), "1")
	}
}

// One row of VALUES becomes two where it calls for a set: all are written, once,
// and the first is the answer.
func TestValuesOfASetRunOnce(t *testing.T) {
	s := fresh(t, tables)
	sets := step{name: "Fill", command: "one", sql: "INSERT INTO lines (payment_id, sku, qty) VALUES (1, @sku, generate_series(1, 2)) RETURNING qty", returns: "qty integer",
		change: func(s *model.Step) { s.Query.Shape.ValuesOfSets = true }}
	op := planned(t, operation(t, "Fill", nil, sets))
	s.must(op, "k", values{"sku": "n"})
	s.equal(s.must(op, "k", values{"sku": "n"}).replayed, "t")
	s.equal(s.text("SELECT string_agg(qty::text, ',' ORDER BY qty) FROM lines"), "1,2")
}

package plan

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// emitting adds events to a step, labelled as check does.
func emitting(s step, events ...model.Event) step {
	change := s.change
	s.change = func(st *model.Step) {
		if change != nil {
			change(st)
		}
		for _, e := range events {
			e.Label = st.Name + " " + e.Topic + " 1"
			st.Events = append(st.Events, e)
		}
	}
	return s
}

// events are all that the outbox holds, in their order.
const events = `SELECT coalesce(string_agg(concat_ws(' ', o.scope, o.operation, o.topic, o.key, coalesce(o.order_key, '-'), o.headers->>'traceparent', o.payload), E'\n'
	ORDER BY o.topic, o.created_at), '') FROM idem.outbox o`

func created() model.Event { return model.Event{Topic: "payment.created", Key: "order_id"} }

// guarded captures a payment, and tells of large ones.
func guarded() step {
	s := emitting(capturePayment(), model.Event{Topic: "payment.captured", Key: "id", If: "large"})
	before := s.change
	s.change = func(st *model.Step) { before(st); st.Statuses = nil }
	return s
}

// Each strategy, with an answer of each kind: one event per execution, of the
// row that is the answer, none for a replay.
func TestEventsAreWrittenOncePerExecution(t *testing.T) {
	in := values{"tenant_id": "t1", "order_id": "o1", "amount": "12.50", "items": `[{"sku":"a","qty":1},{"sku":"b","qty":2}]`, "name": "n", "id": "c1",
		"sku": "s", "qty": "3"}
	const before = `INSERT INTO payments (id, tenant_id, order_id, amount) VALUES (7, 't1', 'o1', 500);`
	for _, tt := range []struct {
		name, before string
		op           *Operation
		strategy     Strategy
		want         string
	}{
		{"insert", "", planned(t, operation(t, "CreatePayment", nil, emitting(createPayment(), created()))), Fused,
			`t1 shop.CreatePayment payment.created CreatePayment payment.created 1/k o1 00-trace {"id":1,"order_id":"o1","amount":"12.50","note":null,"created_at":"`},
		{"insert, reject", "", planned(t, operation(t, "CreatePayment", reject, emitting(createPayment(), created()))), Fused,
			`t1 shop.CreatePayment payment.created CreatePayment payment.created 1/k o1 00-trace {"id":1`},
		{"update, if", before, planned(t, operation(t, "CapturePayment", nil, guarded())), Fused,
			`t1 shop.CapturePayment payment.captured CapturePayment payment.captured 1/k 7 00-trace {"id":7,"status":"captured"}`},
		{"writing CTEs", "", planned(t, operation(t, "PlaceOrder", nil, emitting(placeOrder(), model.Event{Topic: "order.placed"}))), Verbatim,
			`t1 shop.PlaceOrder order.placed PlaceOrder order.placed 1/k - 00-trace {"id":1,"lines":{"count":2,"text":"a\n  b"}}`},
		{"SKIP LOCKED", before, planned(t, operation(t, "TakeJob", nil, emitting(takeJob(), model.Event{Topic: "job.taken"}))), Verbatim,
			`t1 shop.TakeJob job.taken TakeJob job.taken 1/k - 00-trace {"id":7}`},
		{"upsert", "", planned(t, operation(t, "PutCustomer", nil, emitting(putCustomer(), model.Event{Topic: "customer.put", Columns: []string{"inserted", "name"}}))), Fused,
			`t1 shop.PutCustomer customer.put PutCustomer customer.put 1/k - 00-trace {"inserted":true,"name":"n"}`},
		{"every row", before + "INSERT INTO payments (id, tenant_id, order_id, amount) VALUES (9, 't1', 'o2', 1)",
			planned(t, operation(t, "CopyLines", nil, emitting(copyLines(), model.Event{Topic: "line.copied", Key: "sku"}))), Fused,
			"t1 shop.CopyLines line.copied CopyLines line.copied 1/k-1 s 00-trace {\"payment_id\":7,\"sku\":\"s\"}\n" +
				"t1 shop.CopyLines line.copied CopyLines line.copied 1/k-2 s 00-trace {\"payment_id\":9,\"sku\":\"s\"}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fresh(t, tables, tt.before)
			if tt.op.Strategy != tt.strategy || tt.op.RoundTrips != 1 {
				t.Errorf("%s in %d round trips, want %s in 1", tt.op.Strategy, tt.op.RoundTrips, tt.strategy)
			}
			s.equal(s.must(tt.op, "k", in).replayed, "f")
			first := s.text(events)
			if !strings.HasPrefix(first, tt.want) {
				t.Errorf("got  %s\nwant %s", first, tt.want)
			}
			for range 2 {
				s.equal(s.must(tt.op, "k", in).replayed, "t")
				s.equal(s.text(events), first)
			}
		})
	}
}

// An answer that undoes the writes undoes the events; one of no row has none; a
// condition that does not hold has none.
func TestNoEventWithoutItsWrite(t *testing.T) {
	capture := planned(t, operation(t, "CapturePayment", nil, emitting(capturePayment(), model.Event{Topic: "payment.captured"})))
	s := fresh(t, tables, `INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'dear', 5000), ('t1', 'small', 5)`)
	_, err := s.run(capture, "refused", values{"tenant_id": "t1", "order_id": "dear"})
	if state, rule := code(err); state != "IDM01" || rule != "allowed" {
		t.Errorf("a requirement that does not hold: %v", err)
	}
	s.equal(s.must(capture, "empty", values{"tenant_id": "t1", "order_id": "none"}).status, "409")
	large := planned(t, operation(t, "CapturePayment", nil, guarded()))
	s.equal(s.must(large, "small", values{"tenant_id": "t1", "order_id": "small"}).status, "201")
	s.equal(s.text(events), "")
}

// Pitfall 19: topics are texts of the user's, quoted by the one function, also
// where standard_conforming_strings is off.
func TestPitfall_19_TopicsAreQuoted(t *testing.T) {
	const topic = `it's \ "gone"`
	op := planned(t, operation(t, "CreatePayment", nil, emitting(createPayment(), model.Event{Topic: topic})))
	for _, setting := range []string{"on", "off"} {
		s := fresh(t, tables)
		s.exec("SET standard_conforming_strings = " + setting)
		s.must(op, "k", values{"tenant_id": "t1", "order_id": "o1", "amount": "1"})
		s.equal(s.text("SELECT topic FROM idem.outbox"), topic)
	}
}

// Twins at once: one event. The loser waits and fails on the key: what comes
// first of record and event decides about the error it meets.
func TestTwinsWriteOneEvent(t *testing.T) {
	insert := step{name: "AddLine", command: "one", sql: "INSERT INTO lines (payment_id, sku, qty) VALUES (1, @sku, 2) RETURNING sku", returns: "sku text"}
	op := planned(t, operation(t, "AddLine", nil, emitting(insert, model.Event{Topic: "line.added"})))
	url := idemtest.URL(t, tables)
	first, second := serve(t, url), serve(t, url)
	in := values{"sku": "s"}
	first.exec("BEGIN")
	first.must(op, "k", in)
	failed := make(chan error)
	go func() {
		_, err := second.run(op, "k", in)
		failed <- err
	}()
	serve(t, url).blocked()
	first.exec("COMMIT")
	if state, constraint := code(<-failed); state != "23505" || constraint != "keys_pkey" {
		t.Errorf("the twin ended with %s of %s", state, constraint)
	}
	first.equal(first.text("SELECT (SELECT count(*) FROM idem.outbox) || ' ' || (SELECT count(*) FROM lines)"), "1 1")
}

// A forced run tells of itself: its event has the number of the run in its key.
func TestForcedRunsHaveEventsOfTheirOwn(t *testing.T) {
	op := planned(t, operation(t, "PutCustomer", forced, emitting(putCustomer(), model.Event{Topic: "customer.put"})))
	s := fresh(t, tables)
	in := values{"tenant_id": "t1", "id": "c1", "name": "n"}
	s.must(op, "k", in)
	for range 2 {
		if _, err := s.send(op.section(t, "forced"), "k", in); err != nil {
			t.Fatal(err)
		}
	}
	s.equal(s.text("SELECT string_agg(key, ', ' ORDER BY key) FROM idem.outbox"),
		"PutCustomer customer.put 1/k, PutCustomer customer.put 1/k.2, PutCustomer customer.put 1/k.3")
}

// Pitfall 10: a NOTIFY in the transaction makes commits wait for each other.
// Neither the statement nor the table it writes to sends one.
func TestPitfall_10_NothingNotifiesInTheOperation(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "CreatePayment", nil, emitting(createPayment(), created())))
	s.must(op, "k", values{"tenant_id": "t1", "order_id": "o1", "amount": "1"})
	if sql := strings.ToLower(op.section(t, "keyed").SQL); strings.Contains(sql, "notify") {
		t.Error(sql)
	}
	s.equal(s.text("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'idem.outbox'::regclass AND NOT tgisinternal"), "0")
	s.equal(s.text("SELECT count(*) FROM idem.outbox"), "1")
}

package idem

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// telling rides write an event before the first call and one after the last.
func tellingRide() *Operation {
	op := ride("Ride")
	op.SQL = strings.Replace(op.SQL, "RETURNING *)\nSELECT d.id::text", `RETURNING *), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, payload) SELECT $1, 'shop.Ride', 'ride.asked', $5, row_to_json(d) FROM idem_step d)
SELECT d.id::text`, 1)
	op.SQL = strings.Replace(op.SQL, "WHERE id = $1 RETURNING *)", `WHERE id = $1 RETURNING *), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, payload) SELECT 't1', 'shop.Ride', 'ride.paid', $4, row_to_json(d) FROM idem_step d)`, 1)
	op.Steps[0].Args = append(op.Steps[0].Args, Arg{From: ArgEvent, Text: "Insert ride.asked 1"})
	op.Steps[4].Args = append(op.Steps[4].Args, Arg{From: ArgEvent, Text: "Mark ride.paid 1"})
	return op
}

// Each transaction of an operation with calls tells of its own events, and of
// none twice. A key whose record has expired has events of its own, while those
// of the execution before are still there.
func TestEventsOfCalls(t *testing.T) {
	t.Parallel()
	spy := &outboxSpy{}
	s := openStation(t, idemtest.Pool(t, shopTables, drop), &till{}, func(o *Options) { o.Outbox = spy }, tellingRide())
	topics := func() string {
		t.Helper()
		var all string
		err := s.pool.QueryRow(t.Context(), "SELECT string_agg(topic, ' ' ORDER BY topic) FROM idem.outbox").Scan(&all)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := s.post("Ride", "k", order1)
	wantStatus(t, first, 201)
	sameAnswer(t, first, s.post("Ride", "k", order1))
	if got := topics(); got != "ride.asked ride.paid" {
		t.Error(got)
	}
	if n := spy.wakes.Load(); n != 3 { // by each of the transactions
		t.Errorf("%d wake-ups", n)
	}
	s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp()")
	wantStatus(t, s.post("Ride", "k", order1), 201)
	if got := topics(); got != "ride.asked ride.asked ride.paid ride.paid" {
		t.Error(got)
	}
}

package idem

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// tracedRide writes an event behind its calls.
func tracedRide(name Name) *Operation {
	op := ride(name)
	op.SQL = strings.Replace(op.SQL, "WHERE id = $1 RETURNING *)", `WHERE id = $1 RETURNING *), idem_event AS (
  INSERT INTO idem.outbox (scope, operation, topic, key, headers, payload) SELECT 't1', 'shop.Ride', 'ride.paid', $4, $5::jsonb, row_to_json(d) FROM idem_step d)`, 1)
	op.Steps[4].Args = append(op.Steps[4].Args, Arg{From: ArgEvent, Text: "Mark ride.paid 1"}, Arg{From: ArgTrace})
	return op
}

// What is done later, and what another process continues, tells of itself with the
// trace of the request that it is of.
func TestBackgroundEventsKeepTheTrace(t *testing.T) {
	for name, async := range map[string]bool{"async": true, "continued": false} {
		op := tracedRide("Ride")
		op.Async = async
		s := openStation(t, idemtest.Pool(t, shopTables), &till{}, nil, op)
		s.till.before = func(_ context.Context, v visit) error {
			if v.n == 1 {
				return errors.New("away")
			}
			return nil
		}
		if w := s.post("Ride", "k", order1, "Traceparent", aTrace); w.Code != 202 && w.Code != 503 {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		other := s.twin(t, op)
		other.run(t)
		s.await(t, 1, "SELECT count(*) FROM idem.outbox")
		wantTrace(t, s.shop, aTrace)
	}
}

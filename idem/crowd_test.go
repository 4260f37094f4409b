package idem

import (
	"net/http/httptest"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// crowdSize is how many services a crowd has.
const crowdSize = 16

// crowd are services on one database that share no memory and have a connection
// each, so that their claims meet in PostgreSQL. The first result watches.
func crowd(t *testing.T, op func() *Operation) (*shop, []*shop) {
	t.Helper()
	url := idemtest.URL(t, shopTables, "INSERT INTO jobs SELECT FROM generate_series(1, 99)")
	services := make([]*shop, crowdSize)
	for i := range services {
		pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.MaxConns = 1 })
		services[i] = openShop(t, pool, op())
	}
	return &shop{pool: idemtest.Open(t, url, nil)}, services
}

// sendAll sends the same request to every service at once; the answers come as
// they are made.
func sendAll(services []*shop, name Name, key string) <-chan *httptest.ResponseRecorder {
	answers := make(chan *httptest.ResponseRecorder, len(services))
	for _, s := range services {
		go func() { answers <- s.post(name, key, bodyFor(name)) }()
	}
	return answers
}

// The same requests to 16 processes: all claims wait in the database when the
// one they wait for leaves nothing. One runs, the others replay.
func TestCase_race_1_in_the_database(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		op     func() *Operation
		before string
	}{
		"fused insert":    {func() *Operation { return createPayment("Create", patience, true) }, ""},
		"no other key":    {unintended, "ALTER TABLE payments DROP CONSTRAINT payments_order"},
		"guarded update":  {charge, ""},
		"verbatim":        {takeJob, ""},
		"stepped":         {func() *Operation { return transfer("Transfer", ReadCommitted) }, ""},
		"repeatable read": {func() *Operation { return transfer("Steady", RepeatableRead) }, ""},
		"serializable":    {func() *Operation { return transfer("Strict", Serializable) }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			watch, services := crowd(t, c.op)
			watch.exec(t, c.before)
			meet(t, watch, services, c.op())
		})
	}
}

// unintended is an insert that only the key keeps from being done twice.
func unintended() *Operation {
	op := createPayment("Create", patience, true)
	op.Steps[0].Intent = nil
	return op
}

func meet(t *testing.T, watch *shop, services []*shop, op *Operation) {
	t.Helper()
	end := hold(t, watch.pool, winner, digestFor(string(op.Name)))
	answers := sendAll(services, op.Name, "k")
	awaitAllBlocked(t, watch, crowdSize)
	end(false)
	fresh, body := 0, ""
	for range services {
		w := <-answers
		wantStatus(t, w, op.Status)
		if body == "" {
			body = w.Body.String()
		}
		if w.Body.String() != body {
			t.Errorf("%s beside %s", w.Body, body)
		}
		if w.Header().Get(replayedHeader) == "false" {
			fresh++
		}
	}
	if n := watch.count(t, allEffects); n != 1 || fresh != 1 {
		t.Errorf("%d effects, %d fresh answers", n, fresh)
	}
}

// Under reject: who meets a running twin is told so at once, all others get the
// one answer.
func TestCase_race_1_reject(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		op func() *Operation
		// A held record stops the one who has the advisory lock; where the
		// record is the claim, it turns all of them away.
		runs int
	}{
		"fused":           {func() *Operation { return createPayment("Reject", "", true) }, 1},
		"verbatim":        {func() *Operation { return waitingFor(takeJob(), 0) }, 0},
		"stepped":         {func() *Operation { return waitingFor(transfer("Transfer", ReadCommitted), 0) }, 1},
		"repeatable read": {func() *Operation { return waitingFor(transfer("Steady", RepeatableRead), 0) }, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			watch, services := crowd(t, c.op)
			op := c.op()
			end := hold(t, watch.pool, winner, digestFor(string(op.Name)))
			answers := sendAll(services, op.Name, "k")
			for range crowdSize - c.runs {
				wantCode(t, <-answers, 409, "in-flight")
			}
			end(false)
			for range c.runs {
				wantStatus(t, <-answers, op.Status)
			}
			if n := watch.count(t, allEffects); n != int64(c.runs) {
				t.Errorf("%d effects of %d", n, c.runs)
			}
			rejectAll(t, watch, services, op, c.runs)
		})
	}
}

// rejectAll races freely: 64 requests, 16 processes, keys of their own, after the
// given number of effects.
func rejectAll(t *testing.T, watch *shop, services []*shop, op *Operation, before int) {
	t.Helper()
	for round, key := range []string{"a", "b", "c"} {
		body := bodyFor(op.Name)
		if body == order1 {
			body = `{"order_id": "` + key + `", "amount": 5}`
		}
		done := ""
		for _, w := range together(services, 64, func(s *shop) *httptest.ResponseRecorder { return s.post(op.Name, key, body) }) {
			switch {
			case w.Code == 409:
				wantCode(t, w, 409, "in-flight")
			case w.Code != op.Status || done != "" && w.Body.String() != done:
				t.Errorf("%d %s beside %s", w.Code, w.Body, done)
			default:
				done = w.Body.String()
			}
		}
		if again := services[0].post(op.Name, key, body); again.Body.String() != done || again.Header().Get(replayedHeader) != "true" {
			t.Errorf("%d %s is no replay of %s", again.Code, again.Body, done)
		}
		if n := watch.count(t, allEffects); n != int64(before+round+1) {
			t.Errorf("round %d: %d effects", round, n)
		}
	}
}

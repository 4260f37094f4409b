package idem

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// 16 forced and 16 plain requests at once, over two services: as many effects as
// forced runs, and one more at most where there was no record, of a plain one that
// came first. All plain answers are ones that were recorded.
func TestPitfall_18_ForcedRunsBesideDuplicates(t *testing.T) {
	t.Parallel()
	const n = 16
	for _, recorded := range []bool{true, false} {
		for i, op := range forceables() {
			t.Run(fmt.Sprint(op.Name, ", recorded before: ", recorded), func(t *testing.T) {
				shops := twoShops(t, func() []*Operation { return forceables()[i : i+1] }, manyJobs)
				known := map[string]bool{}
				if recorded {
					known[shops[0].post(op.Name, "k", bodyFor(op.Name)).Body.String()] = true
				}
				before := shops[0].count(t, allEffects)
				var turn atomic.Int64
				answers := together(shops, 2*n, func(s *shop) *httptest.ResponseRecorder {
					if turn.Add(1)%2 == 0 {
						return s.force(op.Name, "k", bodyFor(op.Name))
					}
					return s.post(op.Name, "k", bodyFor(op.Name))
				})
				ran := 0
				for _, w := range answers {
					if w.Code/100 != 2 {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
					if !replayed(w) {
						ran++
						known[w.Body.String()] = true
					}
				}
				for _, w := range answers {
					if !known[w.Body.String()] {
						t.Errorf("an answer that nobody recorded: %s", w.Body)
					}
				}
				if effects := shops[0].count(t, allEffects) - before; effects != int64(ran) || ran < n || ran > n+1 || recorded && ran > n {
					t.Errorf("%d ran, %d effects", ran, effects)
				}
				last := shops[0].post(op.Name, "k", bodyFor(op.Name))
				if !replayed(last) || !known[last.Body.String()] {
					t.Errorf("after all: %s", last.Body)
				}
				if got := shops[0].count(t, "SELECT attempt FROM idem.keys"); got < n || got > n+1 {
					t.Errorf("%d attempts", got)
				}
			})
		}
	}
}

// A plain duplicate is answered with the old record while a forced run is under
// way, in the same process too, and where the policy rejects; where it waits, it
// does not, other than in the stepped strategy.
func TestForcedRunHidesNoRecord(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{0, time.Hour} {
		for _, op := range forceables()[:3] {
			if op.Policy.Wait = wait; wait > 0 && op.Strategy == Stepped {
				continue
			}
			// It runs into the row that is held below, as the others do.
			op.SQL = strings.Replace(op.SQL, "-- statement: forced\nWITH idem_done AS (\n  UPDATE jobs SET taken = true WHERE",
				"-- statement: forced\nWITH idem_done AS (\n  UPDATE jobs SET taken = true WHERE EXISTS (SELECT FROM accounts WHERE id = 1 FOR UPDATE) AND", 1)
			t.Run(fmt.Sprint(op.Name, ", waits ", wait), func(t *testing.T) { forcedBesidePlain(t, op) })
		}
	}
}

func forcedBesidePlain(t *testing.T, op *Operation) {
	s := newShop(t, op)
	s.exec(t, manyJobs)
	first := s.post(op.Name, "k", bodyFor(op.Name))
	wantStatus(t, first, op.Status)
	end := hold(t, s.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	forced, beside := make(chan *httptest.ResponseRecorder, 1), make(chan *httptest.ResponseRecorder, 1)
	go func() { forced <- s.force(op.Name, "k", bodyFor(op.Name)) }()
	awaitBlocked(t, s)
	go func() { beside <- s.post(op.Name, "k", bodyFor(op.Name)) }()
	select {
	case w := <-beside:
		if !replayed(w) || w.Body.String() != first.Body.String() {
			t.Errorf("beside it: %d %s", w.Code, w.Body)
		}
	case <-time.After(20 * time.Second):
		t.Error("a duplicate waits for the forced run")
	}
	end(false)
	second := <-forced
	if replayed(second) || second.Code != first.Code || second.Body.String() == first.Body.String() && op.Strategy != Stepped {
		t.Errorf("forced: %d %s", second.Code, second.Body)
	}
	if again := s.post(op.Name, "k", bodyFor(op.Name)); !replayed(again) || again.Body.String() != second.Body.String() {
		t.Errorf("afterwards: %s", again.Body)
	}
}

// A forced run waits for its turn as long as the timeout, not as long as the
// policy lets a duplicate wait.
func TestForcedRunWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	for _, op := range forceables() {
		t.Run(string(op.Name), func(t *testing.T) {
			op.Policy.Wait, op.Policy.Timeout = 0, 10*time.Second
			s := newShop(t, op)
			s.exec(t, manyJobs)
			lock := lockOf("t1", "shop."+string(op.Name), "k")
			end := hold(t, s.pool, "SELECT pg_advisory_xact_lock($1)", lock)
			done := make(chan *httptest.ResponseRecorder, 1)
			go func() { done <- s.force(op.Name, "k", bodyFor(op.Name)) }()
			awaitBlocked(t, s)
			end(false)
			wantStatus(t, <-done, op.Status)
			op.Policy.Timeout = time.Second / 2 // with a pool that has to connect first
			short := openShop(t, s.pool, op)
			end = hold(t, s.pool, "SELECT pg_advisory_xact_lock($1)", lock)
			wantCode(t, short.force(op.Name, "k", bodyFor(op.Name)), 409, "in-flight")
			end(false)
		})
	}
}

// What waits behind the lock sees what the run before it did: its snapshot is
// taken after the wait.
func TestForcedRunSeesTheOneBefore(t *testing.T) {
	t.Parallel()
	op := forceable(charge())
	op.SQL = strings.Replace(op.SQL, "-- statement: forced\nWITH idem_done AS (\n  UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2",
		"-- statement: forced\nWITH idem_done AS (\n  UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND (SELECT count(*) FROM jobs) = 1 AND balance >= $2", 1)
	s := newShop(t, op)
	end := hold(t, s.pool, "SELECT pg_advisory_xact_lock($1), (SELECT set_config('a.b', '', true))", lockOf("t1", "shop.Charge", "k"))
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() { done <- s.force("Charge", "k", `{"amount": 1}`) }()
	awaitBlocked(t, s)
	s.exec(t, "INSERT INTO jobs DEFAULT VALUES")
	end(true)
	wantStatus(t, <-done, 201)
}

// A plain request that meets an expired record deletes it; not the one that a
// forced run puts in its place meanwhile.
func TestForcedRunBesideOneThatExpiresTheRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t, forceable(charge()))
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
	s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp()")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if i%2 == 0 {
				wantStatus(t, s.force("Charge", "k", `{"amount": 1}`), 201)
			} else {
				wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
			}
		})
	}
	wg.Wait()
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE expires_at > clock_timestamp()"); n != 1 {
		t.Errorf("%d records", n)
	}
	if spent := s.count(t, "SELECT 100 - balance FROM accounts WHERE id = 1"); spent < 5 || spent > 6 {
		t.Errorf("%d effects", spent)
	}
}

// Forced runs wait in memory as well: copies do not take the pool.
func TestForcedRunsWaitInMemory(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t, shopTables)
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.MaxConns = 2 })
	s := openShop(t, pool, forceable(charge()), getPayment())
	block := &shop{pool: idemtest.Open(t, url, nil)}
	end := hold(t, block.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { wantStatus(t, s.force("Charge", "k", `{"amount": 1}`), 201) })
	}
	awaitBlocked(t, block)
	wantCode(t, s.call("GetPayment", "GET", "1", ""), 404, "not_found")
	end(false)
	wg.Wait()
}

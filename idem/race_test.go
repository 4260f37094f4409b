package idem

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// together sends the same request n times at once, over several services on one
// database, as several processes would.
func together(services []*shop, n int, send func(*shop) *httptest.ResponseRecorder) []*httptest.ResponseRecorder {
	answers := make([]*httptest.ResponseRecorder, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = send(services[i%len(services)]) })
	}
	wg.Wait()
	return answers
}

// twoShops are two services on one database: they do not share memory.
func twoShops(t *testing.T, ops func() []*Operation, extra ...string) []*shop {
	url := idemtest.URL(t, append([]string{shopTables}, extra...)...)
	return []*shop{
		openShop(t, idemtest.Open(t, url, nil), ops()...),
		openShop(t, idemtest.Open(t, url, nil), ops()...),
	}
}

func raceAll(t *testing.T, op func() *Operation, effects string) {
	t.Helper()
	shops := twoShops(t, func() []*Operation { return []*Operation{op()} }, "INSERT INTO jobs SELECT FROM generate_series(1, 99)")
	name := op().Name
	for round := range 5 {
		key := string(rune('a' + round))
		body := bodyFor(name)
		if body == order1 {
			body = `{"order_id": "` + key + `", "amount": 5}`
		}
		answers := together(shops, 64, func(s *shop) *httptest.ResponseRecorder { return s.post(name, key, body) })
		fresh := 0
		for _, w := range answers {
			if w.Code/100 != 2 || w.Body.String() != answers[0].Body.String() {
				t.Fatalf("%d %s beside %s", w.Code, w.Body, answers[0].Body)
			}
			if w.Header().Get(replayedHeader) == "false" {
				fresh++
			}
		}
		if fresh != 1 {
			t.Errorf("%d fresh answers", fresh)
		}
		if n := shops[0].count(t, effects); n != int64(round+1) {
			t.Errorf("round %d: %d effects", round, n)
		}
	}
}

// 64 identical requests at once, new key: one effect, 64 identical bodies.
func TestCase_race_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		op      func() *Operation
		effects string
	}{
		"fused":        {func() *Operation { return createPayment("Create", patience, true) }, "SELECT count(*) FROM payments"},
		"fused update": {charge, "SELECT 100 - balance FROM accounts WHERE id = 1"},
		"verbatim":     {takeJob, "SELECT count(*) FROM jobs WHERE taken"},
		"stepped":      {func() *Operation { return transfer("Transfer", ReadCommitted) }, "SELECT balance FROM accounts WHERE id = 2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { raceAll(t, c.op, c.effects) })
	}
}

// The same where the waiter's snapshot predates its lock: never a 500.
func TestCase_race_2(t *testing.T) {
	t.Parallel()
	for _, level := range []Isolation{RepeatableRead, Serializable} {
		t.Run(string(level), func(t *testing.T) {
			raceAll(t, func() *Operation { return transfer("Transfer", level) }, "SELECT balance FROM accounts WHERE id = 2")
		})
	}
}

// hold runs SQL in a transaction that stays open until the returned function
// ends it, or until the test ends: a failed one must not wait for its pool.
func hold(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (end func(commit bool)) {
	t.Helper()
	ctx := context.Background()
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(ctx) }) // an error says that it has ended
	if _, err := tx.Exec(ctx, sql, args...); err != nil {
		t.Fatal(err)
	}
	return func(commit bool) {
		if commit {
			err = tx.Commit(ctx)
		} else {
			err = tx.Rollback(ctx)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// awaitBlocked returns when a backend of the database waits for a lock.
func awaitBlocked(t *testing.T, s *shop) {
	t.Helper()
	awaitAllBlocked(t, s, 1)
}

// awaitAllBlocked returns when n backends of the database wait for locks.
func awaitAllBlocked(t *testing.T, s *shop, n int64) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for s.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) < n {
		if time.Now().After(deadline) {
			t.Fatalf("fewer than %d wait for a lock", n)
		}
	}
}

// winner is the record that a twin in another process makes.
const winner = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, body, expires_at)
	VALUES ('t1', $1, 'shop.x', 'k', '\x00', 201, '{"id": "winner"}', clock_timestamp() + interval '1 hour')`

func digestFor(name string) []byte { return digestOf("shop."+name, "k") }

// allEffects counts what the operations did, once for each that bodyFor asks for.
const allEffects = `SELECT (SELECT count(*) FROM payments) + (SELECT count(*) FROM jobs WHERE taken)
	+ (SELECT 100 - balance FROM accounts WHERE id = 1)`

// The loser's 23505 on the key table becomes a replay, never a 5xx, and its
// write is undone.
func TestCase_race_3(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{
		createPayment("Create", patience, true), charge(), takeJob(),
		transfer("Transfer", ReadCommitted), transfer("Steady", RepeatableRead), transfer("Strict", Serializable),
	} {
		t.Run(string(op.Name), func(t *testing.T) {
			s := newShop(t, op)
			s.exec(t, "INSERT INTO jobs DEFAULT VALUES")
			end := hold(t, s.pool, winner, digestFor(string(op.Name)))
			done := make(chan *httptest.ResponseRecorder)
			go func() { done <- s.post(op.Name, "k", bodyFor(op.Name)) }()
			awaitBlocked(t, s)
			end(true)
			w := <-done
			if w.Code != 201 || w.Body.String() != `{"id": "winner"}` || w.Header().Get(replayedHeader) != "true" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if n := s.count(t, allEffects); n != 0 {
				t.Errorf("%d effects of the loser", n)
			}
		})
	}
}

// The twin leaves nothing, or what has expired already: who waited for it runs,
// with a claim of its own.
func TestCase_race_5(t *testing.T) {
	t.Parallel()
	expired := strings.ReplaceAll(winner, "+ interval '1 hour'", "")
	s := newOddShop(t, allStrategies()...)
	for _, op := range allStrategies() {
		for name, twin := range map[string]string{"released": winner, "expired": expired} {
			t.Run(string(op.Name)+" "+name, func(t *testing.T) {
				s.reset(t)
				end := hold(t, s.pool, twin, digestFor(string(op.Name)))
				done := make(chan *httptest.ResponseRecorder)
				go func() { done <- s.post(op.Name, "k", bodyFor(op.Name)) }()
				awaitBlocked(t, s)
				end(name == "expired")
				w := <-done
				wantStatus(t, w, op.Status)
				if w.Header().Get(replayedHeader) != "false" {
					t.Error("nobody else ran it")
				}
				sameAnswer(t, w, s.post(op.Name, "k", bodyFor(op.Name)))
				if n := s.count(t, allEffects); n != 1 {
					t.Errorf("%d effects", n)
				}
			})
		}
	}
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{createPayment("Create", "100ms", true), transfer("Transfer", ReadCommitted)} {
		op.Policy.Wait = 100 * time.Millisecond
		s := newShop(t, op)
		end := hold(t, s.pool, winner, digestFor(string(op.Name)))
		if op.Strategy == Stepped {
			end(false)
			end = hold(t, s.pool, "SELECT pg_advisory_xact_lock($1)", lockOf("t1", "shop.Transfer", "k"))
		}
		w := s.post(op.Name, "k", bodyFor(op.Name))
		wantCode(t, w, 409, "in-flight")
		if w.Header().Get("X-Should-Retry") != "true" || w.Header().Get("Retry-After") != "1" {
			t.Errorf("headers %v", w.Header())
		}
		end(false)
		wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name)), 201)
	}
}

func TestRejectAnswersAtOnce(t *testing.T) {
	t.Parallel()
	stepped := transfer("Transfer", ReadCommitted)
	stepped.Policy.Wait = 0
	for _, op := range []*Operation{createPayment("Create", "", true), stepped} {
		s := newShop(t, op)
		end := hold(t, s.pool, "SELECT pg_advisory_xact_lock($1)", lockOf("t1", "shop."+string(op.Name), "k"))
		wantCode(t, s.post(op.Name, "k", bodyFor(op.Name)), 409, "in-flight")
		end(false)
		wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name)), 201)
	}
}

// The same key on another operation, or in another scope, while one runs: it is
// independent.
func TestCase_race_7(t *testing.T) {
	t.Parallel()
	s := newOddShop(t, allStrategies()...)
	for _, running := range allStrategies() {
		// Whoever runs holds its key row and its lock until the end.
		end := hold(t, s.pool, lockedWinner, digestFor(string(running.Name)), lockOf("t1", "shop."+string(running.Name), "k"))
		for _, op := range allStrategies() {
			for _, tenant := range []string{"t1", "t2"} {
				if op.Name == running.Name && tenant == "t1" {
					continue
				}
				s.reset(t)
				w := s.post(op.Name, "k", bodyFor(op.Name), "X-Tenant", tenant)
				if w.Code != op.Status || w.Header().Get(replayedHeader) != "false" {
					t.Errorf("%s of %s beside %s: %d %s", op.Name, tenant, running.Name, w.Code, w.Body)
				}
			}
		}
		end(false)
	}
}

// Copies of one slow request do not take the pool: others are served.
func TestPitfall_6_CopiesWaitInMemory(t *testing.T) {
	url := idemtest.URL(t, shopTables)
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.MaxConns = 2 })
	slow := transfer("Transfer", ReadCommitted)
	slow.Policy.Wait = 10 * time.Second
	s := openShop(t, pool, slow, getPayment())
	block := idemtest.Open(t, url, nil)
	end := hold(t, block, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { wantStatus(t, s.post("Transfer", "k", bodyFor("Transfer")), 201) })
	}
	awaitBlocked(t, &shop{pool: block})
	wantCode(t, s.call("GetPayment", "GET", "1", ""), 404, "not_found")
	end(false)
	wg.Wait()
}

// A guarded UPDATE: the twin waits, finds no row, and must not say so.
func TestPitfall_1_ATwinSeesWhatTheWinnerDid(t *testing.T) {
	t.Parallel()
	shops := twoShops(t, func() []*Operation { return []*Operation{charge()} })
	body, _ := json.Marshal(map[string]int{"amount": 60})
	for round := range 10 {
		shops[0].exec(t, "UPDATE accounts SET balance = 100 WHERE id = 1")
		key := string(rune('a' + round))
		for _, w := range together(shops, 8, func(s *shop) *httptest.ResponseRecorder { return s.post("Charge", key, string(body)) }) {
			wantStatus(t, w, 201)
		}
	}
}

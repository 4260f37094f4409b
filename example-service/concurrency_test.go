package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// 64 identical requests at once, of every operation with a key, at two services
// on one database: one effect, 64 identical answers, one of which is the first.
func TestCase_race_1(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	for _, op := range operations(t, c) {
		t.Run(op.name, func(t *testing.T) {
			key, before, count := newKey(), state(t, c.pool), rows(t, c.pool)
			answers := together(64, func(i int) answer {
				return c.via(services[i%2]).send(t, op.first.with(key))
			})
			fresh := 0
			for _, got := range answers {
				got.sameAs(t, answers[0])
				if !got.replayed() {
					fresh++
				}
			}
			if answers[0].status != op.status || fresh != 1 {
				t.Errorf("status %d, %d of 64 are no replay: %s", answers[0].status, fresh, answers[0].body)
			}
			if state(t, c.pool) == before {
				t.Error("no effect")
			}
			if made := rows(t, c.pool) - count; made != rowsMade[op.name] {
				t.Errorf("%d rows were made", made)
			}
		})
	}
	// What does not show in the number of rows.
	if moved := query[int](t, c.pool, "SELECT 1000 - min(balance) FROM accounts WHERE balance > 0"); moved != 100 {
		t.Errorf("%d were transferred, not 100", moved)
	}
	if version := query[int](t, c.pool, "SELECT max(version) FROM customers"); version != 2 {
		t.Errorf("a customer was changed %d times", version-1)
	}
}

// rowsMade are the business rows that one effect of an operation makes.
var rowsMade = map[string]int{
	"CreateAccount": 1, "CreatePayment": 1, "CapturePayment": 0, "RefundPayment": 1, "CreateTransfer": 1, "PlaceOrder": 2, "ChargeRide": 1,
	"PutCustomer": 1, "PatchCustomer": 0, "DeleteCustomer": -1,
}

func rows(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return query[int](t, pool, `SELECT (SELECT count(*) FROM accounts) + (SELECT count(*) FROM payments) + (SELECT count(*) FROM transfers)
		+ (SELECT count(*) FROM orders) + (SELECT count(*) FROM order_lines) + (SELECT count(*) FROM customers)
		+ (SELECT count(*) FROM refunds) + (SELECT count(*) FROM rides)`)
}

// A key that has expired, sent 64 times at once at two services: it is new, so
// one effect, one record, and identical answers that are not the old one.
func TestCase_race_6(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	for _, op := range operations(t, c) {
		if op.name != "CreateAccount" && op.name != "PlaceOrder" {
			continue // the others can't be done twice
		}
		for range 5 {
			old := c.send(t, op.first.with("k"))
			expire(t, c.pool)
			before := rows(t, c.pool)
			answers := together(64, func(i int) answer { return c.via(services[i%2]).send(t, op.first.with("k")) })
			fresh := 0
			for _, got := range answers {
				got.sameAs(t, answers[0])
				if !got.replayed() {
					fresh++
				}
			}
			if fresh != 1 || answers[0].status != op.status || answers[0].body == old.body {
				t.Errorf("%d of 64 are no replay: %d %s", fresh, answers[0].status, answers[0].body)
			}
			if made := rows(t, c.pool) - before; made != rowsMade[op.name] {
				t.Errorf("%s: %d rows were made", op.name, made)
			}
			if n := query[int](t, c.pool, "SELECT count(*) FROM idem.keys WHERE key = 'k' AND operation = $1", "payments."+op.name); n != 1 {
				t.Errorf("%d records", n)
			}
		}
	}
}

// 100 clients replay one key at once: identical bytes.
func TestCase_replay_3(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	for _, op := range operations(t, c)[:5] {
		first := c.send(t, op.first.with("k"))
		for _, got := range together(100, func(i int) answer { return c.via(services[i%2]).send(t, op.first.with("k")) }) {
			got.replays(t, first)
		}
	}
}

// hold runs SQL in a transaction that stays open until the returned function
// rolls it back, or until the test ends.
func hold(t *testing.T, pool *pgxpool.Pool, sql string) (end func()) {
	t.Helper()
	ctx := context.Background()
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		if err := tx.Rollback(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	if _, err := tx.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
	return end
}

// Two processes get the same request while the business rows are locked: one
// runs, the other waits and is answered from its record.
func TestTwinsOfTwoProcesses(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	ops := operations(t, c)
	locks := map[string]string{
		"CreatePayment":  "INSERT INTO payments (tenant_id, order_id, amount, currency) VALUES ('acme', 'order-1', 1, 'EUR')",
		"CapturePayment": "SELECT FROM payments FOR UPDATE",
		"RefundPayment":  "SELECT FROM payments FOR UPDATE",
		"CreateTransfer": "SELECT FROM accounts FOR UPDATE",
		"PlaceOrder":     "LOCK TABLE orders IN SHARE MODE",
		"ChargeRide":     "LOCK TABLE rides IN SHARE MODE",
		"CreateAccount":  "LOCK TABLE accounts IN SHARE MODE",
		"PutCustomer":    "INSERT INTO customers (tenant_id, id, name) VALUES ('acme', 'put', 'x')",
		"PatchCustomer":  "SELECT FROM customers FOR UPDATE",
		"DeleteCustomer": "SELECT FROM customers FOR UPDATE",
	}
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			before := rows(t, c.pool)
			end := hold(t, c.pool, locks[op.name])
			both := make(chan answer, 2)
			for _, s := range services {
				go func() { both <- c.via(s).send(t, op.first.with("k")) }()
			}
			awaitBlocked(t, c.pool, 2)
			end()
			one, twin := <-both, <-both
			one.sameAs(t, twin)
			if one.status != op.status || one.replayed() == twin.replayed() {
				t.Errorf("%d, replayed %v and %v: %s", one.status, one.replayed(), twin.replayed(), one.body)
			}
			if made := rows(t, c.pool) - before; made != rowsMade[op.name] {
				t.Errorf("%d rows were made", made)
			}
		})
	}
}

// A request in the middle of its work is not seen: while it runs, its twin in
// another process waits a bounded time, and is then told to come again.
func TestATwinThatTakesTooLong(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	a, b := c.account(t, 100), c.account(t, 0)
	end := hold(t, c.pool, "SELECT FROM accounts FOR UPDATE")
	first := make(chan answer, 1)
	go func() { first <- c.transfer(t, "k", a, b, 10) }()
	awaitBlocked(t, c.pool, 1)
	twin := c.via(services[1]).transfer(t, "k", a, b, 10)
	twin.refused(t, 409, "in-flight")
	if twin.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", twin.header.Get("Retry-After"))
	}
	end()
	done := <-first
	done.must(t, 201)
	c.via(services[1]).transfer(t, "k", a, b, 10).replays(t, done)
}

// A client that goes away before the answer: the work goes on, one effect, and
// its retry replays.
func TestCase_crash_2(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	a, b := c.account(t, 100), c.account(t, 0)
	end := hold(t, s.pool, "SELECT FROM accounts FOR UPDATE")
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := c.try(ctx, request{method: "POST", path: "/v1/transfers", key: "k", body: transferBody(a, b, 10)})
		gone <- err
	}()
	awaitBlocked(t, s.pool, 1)
	leave()
	if err := <-gone; err == nil {
		t.Error("the request was answered")
	}
	end()
	retry := c.transfer(t, "k", a, b, 10)
	retry.must(t, 201)
	if !retry.replayed() || c.balance(t, b) != 10 {
		t.Errorf("replayed %v, balance %d", retry.replayed(), c.balance(t, b))
	}
}

// A service that was started anew, with a pool and memory of its own, replays
// what the old one recorded.
func TestRestart(t *testing.T) {
	url := newDatabase(t)
	old := open(t, idemtest.Open(t, url, nil))
	c := old.as(t, "acme")
	ops := operations(t, c)
	first := map[string]answer{}
	for _, op := range ops {
		first[op.name] = c.send(t, op.first.with("k"))
	}
	refusal := c.post(t, "/v1/payments", "k2", paymentBody("order-1"))
	refusal.refused(t, 409, "intent-conflict")
	old.pool.Close()

	again := c.via(open(t, idemtest.Open(t, url, nil)))
	before := state(t, again.pool)
	for _, op := range ops {
		again.send(t, op.first.with("k")).replays(t, first[op.name])
	}
	again.post(t, "/v1/payments", "k2", paymentBody("order-1")).replays(t, refusal)
	if state(t, again.pool) != before {
		t.Error("a replay changed something")
	}
}

// Copies of one slow request do not take the pool: others are served meanwhile.
func TestPitfall_6_CopiesDoNotTakeThePool(t *testing.T) {
	url := newDatabase(t)
	s := open(t, idemtest.Open(t, url, func(config *pgxpool.Config) { config.MaxConns = 2 }))
	c, beside := s.as(t, "acme"), idemtest.Open(t, url, nil)
	a, b := c.account(t, 100), c.account(t, 0)
	end := hold(t, beside, fmt.Sprintf("SELECT FROM accounts WHERE id = %s FOR UPDATE", a))
	copies := make(chan []answer, 1)
	go func() {
		copies <- together(20, func(int) answer { return c.transfer(t, "k", a, b, 10) })
	}()
	awaitBlocked(t, beside, 1)
	c.get(t, "/v1/accounts/"+b).must(t, 200)
	s.as(t, "other").post(t, "/v1/payments", "k", paymentBody("order-1")).must(t, 201)
	end()
	for _, got := range <-copies {
		if got.status != 201 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if c.balance(t, b) != 10 {
		t.Errorf("balance %d", c.balance(t, b))
	}
}

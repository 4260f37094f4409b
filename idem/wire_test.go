package idem

import (
	"context"
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
)

// Round trips, counted on the wire: first request and replay.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	pool, counter := idemtest.PoolCounting(t, shopTables, "INSERT INTO jobs SELECT FROM generate_series(1, 9)")
	cases := []struct {
		op            *Operation
		first, replay int64
	}{
		{createPayment("Create", "2000ms", true), 1, 1},
		{createPayment("Reject", "", true), 1, 1},
		{charge(), 1, 1},
		{takeJob(), 1, 1},
		{transfer("Transfer", ReadCommitted), 2 + 3, 2},
		{transfer("Strict", Serializable), 2 + 3, 2},
	}
	var ops []*Operation
	for _, c := range cases {
		ops = append(ops, c.op)
	}
	s := openShop(t, pool, ops...)
	for _, c := range cases {
		t.Run(string(c.op.Name), func(t *testing.T) {
			send := func(i int) func() {
				return func() {
					body := bodyFor(c.op.Name)
					if body == order1 {
						body = fmt.Sprintf(`{"order_id": "%s-%d", "amount": 5}`, c.op.Name, i)
					}
					if w := s.post(c.op.Name, fmt.Sprint("k", i), body); w.Code/100 != 2 {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
				}
			}
			send(0)() // prepares the statements on the one connection
			send(0)()
			for i := 1; i <= 3; i++ {
				if n := counter.Count(send(i)); n != c.first {
					t.Errorf("new: %d round trips, want %d", n, c.first)
				}
				if n := counter.Count(send(i)); n != c.replay {
					t.Errorf("replay: %d round trips, want %d", n, c.replay)
				}
			}
		})
	}
}

func TestSessionIsInThePipeline(t *testing.T) {
	t.Parallel()
	pool, counter := idemtest.PoolCounting(t, shopTables, `ALTER TABLE payments ADD tenant text DEFAULT current_setting('app.tenant_id', true)`)
	config := shopConfig(createPayment("Create", "2000ms", true))
	config.Session = []SessionVar{{Name: "app.tenant_id", Arg: Arg{From: ArgField, Field: 0}}}
	config.Operations[0].SQL += "\n-- statement: session\nSELECT set_config('app.tenant_id', $1::text, true);\n"
	service, err := New(pool, config, shopCaller, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := openShop(t, pool)
	s.mux.Handle("/Create/{id}", service.Handler("Create"))
	wantStatus(t, s.post("Create", "a", order1), 201)
	n := counter.Count(func() { wantStatus(t, s.post("Create", "b", `{"order_id": "o2", "amount": 5}`), 201) })
	if n != 1 {
		t.Errorf("%d round trips", n)
	}
	if n := s.count(t, "SELECT count(*) FROM payments WHERE tenant = 't1'"); n != 2 {
		t.Errorf("%d rows of the tenant", n)
	}
}

// A Go function costs no round trip but its own: the operation takes as many as
// the same transaction written by hand, whose first statement goes with BEGIN and
// whose last one with COMMIT.
func TestGoStepRoundTrips(t *testing.T) {
	t.Parallel()
	pool, counter := idemtest.PoolCounting(t, shopTables)
	s := goShop(t, pool, ReadCommitted, func(_ context.Context, _ Tx, in adjusting) ([]any, error) { return []any{in.amount, nil}, nil })
	byHand := func() {
		ctx := t.Context()
		c, err := pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
		batch := func(statements ...string) {
			b := &pgx.Batch{}
			for _, sql := range statements {
				b.Queue(sql)
			}
			if err := c.SendBatch(ctx, b).Close(); err != nil {
				t.Fatal(err)
			}
		}
		const claim, record = "SELECT pg_advisory_xact_lock(1)", "INSERT INTO jobs DEFAULT VALUES"
		batch("BEGIN", claim, "SELECT FROM idem.keys WHERE scope = 'none'")
		for _, sql := range []string{"SELECT balance FROM accounts WHERE id = 1 FOR UPDATE", "INSERT INTO jobs DEFAULT VALUES",
			"UPDATE accounts SET balance = balance - 10 WHERE id = 1 RETURNING balance"} {
			if _, err := c.Exec(ctx, sql); err != nil {
				t.Fatal(err)
			}
		}
		batch(record, "COMMIT")
	}
	send := func(key string) func() {
		return func() { wantStatus(t, s.post("Adjust", key, `{"amount": 1}`), 201) }
	}
	byHand() // both prepare their statements
	send("warm")()
	send("warm")()
	want := counter.Count(byHand)
	for _, key := range []string{"a", "b", "c"} {
		if got := counter.Count(send(key)); got != want || want != 5 {
			t.Errorf("%d round trips, by hand %d", got, want)
		}
		if got := counter.Count(send(key)); got != 2 {
			t.Errorf("a replay: %d round trips", got)
		}
	}
}

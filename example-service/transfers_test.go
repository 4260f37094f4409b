package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func (c *client) transfer(t testing.TB, key, from, to string, amount int) answer {
	t.Helper()
	return c.post(t, "/v1/transfers", key, transferBody(from, to, amount))
}

func TestCreateTransfer(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	a, b := c.account(t, 100), c.account(t, 0)
	foreign := s.as(t, "other").account(t, 100)

	first := c.transfer(t, "k", a, b, 60)
	first.must(t, 201)
	c.transfer(t, "k", a, b, 60).replays(t, first)
	broke := c.transfer(t, "k2", a, b, 60)
	broke.refused(t, 402, "insufficient_funds")
	execute(t, s.pool, "UPDATE accounts SET balance = balance + 1000 WHERE id = $1::text::bigint", a)
	c.transfer(t, "k2", a, b, 60).replays(t, broke) // told 402, never debited later
	c.transfer(t, newKey(), a, foreign, 1).refused(t, 404, "no_such_account")
	c.transfer(t, newKey(), foreign, a, 1).refused(t, 404, "no_such_account")
	c.transfer(t, newKey(), a, "99999", 1).refused(t, 404, "no_such_account")
	c.transfer(t, newKey(), "0", "-1", 1).refused(t, 404, "no_such_account")
	if got := [3]int{c.balance(t, a), c.balance(t, b), c.balance(t, foreign)}; got != [3]int{1040, 60, 100} {
		t.Errorf("balances %v", got)
	}
	if n := query[int](t, s.pool, "SELECT count(*) FROM transfers"); n != 1 {
		t.Errorf("%d transfers", n)
	}
}

// The declared error of a transfer to the same account.
func TestTransferToTheSameAccount(t *testing.T) {
	c := newService(t).as(t, "acme")
	a := c.account(t, 100)
	first := c.transfer(t, "k", a, a, 10)
	first.refused(t, 422, "same_account")
	c.transfer(t, "k", a, a, 10).replays(t, first)
	if n := c.balance(t, a); n != 100 {
		t.Errorf("balance %d", n)
	}
}

// More money than a bigint holds is a client error, and undoes the debit.
func TestTransferOverflow(t *testing.T) {
	c := newService(t).as(t, "acme")
	a, b := c.account(t, 10), c.account(t, 9223372036854775807)
	c.transfer(t, newKey(), a, b, 1).refused(t, 422, "invalid-value")
	if c.balance(t, a) != 10 {
		t.Errorf("balance %d", c.balance(t, a))
	}
}

// The database has the last word, whatever the SQL does.
func TestConstraintsHold(t *testing.T) {
	s := newService(t)
	c := s.as(t, "acme")
	a := c.account(t, 100)
	for constraint, sql := range map[string]string{
		"accounts_balance_check":             "UPDATE accounts SET balance = balance - 101",
		"transfers_accounts_differ":          "INSERT INTO transfers (tenant_id, from_account, to_account, amount) SELECT 'acme', id, id, 1 FROM accounts",
		"payments_tenant_id_order_id_intent": "INSERT INTO payments (tenant_id, order_id, amount, currency) SELECT 'acme', 'twice', 1, 'EUR' FROM generate_series(1, 2)",
	} {
		_, err := s.pool.Exec(context.Background(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.ConstraintName != constraint {
			t.Errorf("%s: %v", constraint, err)
		}
	}
	if c.balance(t, a) != 100 {
		t.Error("the balance changed")
	}
}

// Transfers in both directions at once, each sent twice, at two services: no
// deadlock reaches a client, no money is made or lost, each has one effect.
func TestTransfersInBothDirections(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	a, b := c.account(t, 300), c.account(t, 300)
	const n = 60
	answers := together(2*n, func(i int) answer {
		from, to := a, b
		if i/2%2 == 1 {
			from, to = b, a
		}
		return c.via(services[i%2]).transfer(t, fmt.Sprint("k", i/2), from, to, 1+i/2*7%50)
	})
	moved := 0
	for i := 0; i < len(answers); i += 2 {
		one, twin := answers[i], answers[i+1]
		one.sameAs(t, twin)
		switch one.status {
		case 201:
			moved++
		case 402:
		default:
			t.Errorf("%d %s", one.status, one.body)
		}
		if one.replayed() == twin.replayed() {
			t.Error("not exactly one of two twins is a replay")
		}
	}
	if moved == 0 {
		t.Error("nothing was moved")
	}
	if got := query[int](t, c.pool, "SELECT count(*) FROM transfers"); got != moved {
		t.Errorf("%d transfers, %d successes", got, moved)
	}
	checkBooks(t, c, 600)
}

// checkBooks compares balances with what the transfers say.
func checkBooks(t *testing.T, c *client, total int) {
	t.Helper()
	if sum := query[int](t, c.pool, "SELECT sum(balance)::bigint FROM accounts"); sum != total {
		t.Errorf("the balances add up to %d, not %d", sum, total)
	}
	if low := query[int](t, c.pool, "SELECT min(balance) FROM accounts"); low < 0 {
		t.Errorf("a balance of %d", low)
	}
}

// While others spend from one account, what is answered is what was done:
// successes and refusals, replayed, agree with the balance.
func TestConcurrentSpending(t *testing.T) {
	services := twoServices(t)
	c := services[0].as(t, "acme")
	a, b := c.account(t, 100), c.account(t, 0)
	send := func(i int) answer {
		return c.via(services[rand.N(2)]).transfer(t, fmt.Sprint("k", i), a, b, 10)
	}
	first := together(30, send)
	done := 0
	for i, got := range together(30, send) {
		got.replays(t, first[i])
		if got.status == 201 {
			done++
		}
	}
	if done != 10 || c.balance(t, a) != 0 || c.balance(t, b) != 100 {
		t.Errorf("%d transfers; balances %d and %d", done, c.balance(t, a), c.balance(t, b))
	}
}

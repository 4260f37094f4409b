package main

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// stopWrites lets each write of the three strategies wait behind its row for the
// lock that the test holds.
const stopWrites = `CREATE FUNCTION stop_write() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
	CREATE TRIGGER stop_write AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION stop_write();
	CREATE TRIGGER stop_write AFTER INSERT ON transfers FOR EACH ROW EXECUTE FUNCTION stop_write();
	CREATE TRIGGER stop_write AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION stop_write()`

// atOnce is how long a retry may take after a crash: far less than a lease of the
// operation's timeout would hold it up.
const atOnce = 15 * time.Second

// Killed while a fused, a stepped and a verbatim request have written and are
// stopped before their commit. Nothing is left to expire: the retries, sent to
// another process, are answered at once, and each request has one effect. Where
// the server goes on with what it had got, it may be that of the first attempt;
// where it ends too, the retry runs.
func TestCase_crash_1_in_the_write(t *testing.T) {
	binary := build(t, ".")
	for name, serverEnds := range map[string]bool{"the server goes on": false, "the server ends it": true} {
		t.Run(name, func(t *testing.T) { killInTheWrite(t, binary, serverEnds) })
	}
}

func killInTheWrite(t *testing.T, binary string, serverEnds bool) {
	url := idemtest.URL(t, emptyDatabase)
	p, other := start(t, binary, 0, "DATABASE_URL="+url), start(t, binary, 0, "DATABASE_URL="+url)
	pool := idemtest.Open(t, url, nil)
	c := &client{&service{pool: pool, url: p.url, http: httpClient(t)}, "acme", keyFrom(t, binary, url, "acme")}
	requests, to := writesOfAllStrategies(t, c)
	execute(t, pool, stopWrites)
	end := hold(t, pool, "SELECT pg_advisory_xact_lock(1)")
	lost := make(chan error, len(requests))
	for _, r := range requests {
		go func() {
			_, err := c.try(context.Background(), r)
			lost <- err
		}()
	}
	awaitBlocked(t, pool, len(requests))
	p.kill()
	for range requests {
		if err := <-lost; err == nil {
			t.Error("a request was answered before the end")
		}
	}
	if serverEnds {
		endBlocked(t, pool)
	}
	end()
	c.url = other.url
	began := time.Now()
	first := together(len(requests), func(i int) answer { return c.send(t, requests[i]) })
	if took := time.Since(began); took > atOnce {
		t.Errorf("the retries took %s", took)
	}
	for i, got := range first {
		got.must(t, 201)
		if serverEnds && got.replayed() {
			t.Errorf("%s: a replay of what was undone: %s", requests[i].path, got.body)
		}
		if again := c.send(t, requests[i]); again.body != got.body || !again.replayed() {
			t.Errorf("%s: %s is no replay of %s", requests[i].path, again.body, got.body)
		}
	}
	wantOneEffectEach(t, c, pool, to)
}

// endBlocked ends the server processes that wait for a lock, and returns when
// they are gone.
func endBlocked(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	const blocked = " FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	execute(t, pool, "SELECT pg_terminate_backend(pid)"+blocked)
	for deadline := time.Now().Add(10 * time.Second); query[int](t, pool, "SELECT count(*)"+blocked) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the server does not end what waits")
		}
	}
}

// writesOfAllStrategies are a fused, a stepped and a verbatim request, and the
// account that gets money.
func writesOfAllStrategies(t *testing.T, c *client) (requests []request, to string) {
	t.Helper()
	from, to := c.account(t, 1000), c.account(t, 0)
	return []request{
		request{method: "POST", path: "/v1/payments", body: paymentBody("order-1")}.with("fused"),
		request{method: "POST", path: "/v1/transfers", body: transferBody(from, to, 10)}.with("stepped"),
		request{method: "POST", path: "/v1/orders", body: orderBody(pen)}.with("verbatim"),
	}, to
}

func wantOneEffectEach(t *testing.T, c *client, pool *pgxpool.Pool, to string) {
	t.Helper()
	for _, table := range []string{"payments", "transfers", "orders", "order_lines"} {
		if n := query[int](t, pool, "SELECT count(*) FROM "+table); n != 1 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if n := c.balance(t, to); n != 10 {
		t.Errorf("%d were transferred", n)
	}
	checkBooks(t, c, 1000)
}

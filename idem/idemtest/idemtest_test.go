package idemtest_test

import (
	"context"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

func TestPoolIsAFreshDatabase(t *testing.T) {
	ctx := context.Background()
	for range 2 {
		pool := idemtest.Pool(t, "CREATE TABLE a (x int)", "INSERT INTO a VALUES (1)")
		var rows, keys int
		if err := pool.QueryRow(ctx, "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM idem.keys)").Scan(&rows, &keys); err != nil {
			t.Fatal(err)
		}
		if rows != 1 || keys != 0 {
			t.Errorf("rows %d, keys %d", rows, keys)
		}
	}
}

func TestPoolCountingCountsRoundTrips(t *testing.T) {
	ctx := context.Background()
	pool, counter := idemtest.PoolCounting(t)
	one := func() {
		if _, err := pool.Exec(ctx, "SELECT $1::text", "x"); err != nil {
			t.Fatal(err)
		}
	}
	one()
	if n := counter.Count(one); n != 1 {
		t.Errorf("one statement: %d round trips", n)
	}
	if n := counter.Count(func() { one(); one() }); n != 2 {
		t.Errorf("two statements: %d round trips", n)
	}
}

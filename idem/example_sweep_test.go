package idem_test

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// A service's own Run sweeps. Where handlers are written by hand, a Sweeper does: Run in
// a service, Sweep from cron.
func ExampleSweeper() {
	t := &exampleTB{}
	defer t.done()
	ctx, pool := context.Background(), idemtest.Pool(t, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
		SELECT 'acme', decode(md5(i::text), 'hex'), 'shop.Order', 'k' || i, '', 200, clock_timestamp() + i * interval '1 hour'
		FROM generate_series(-1, 1, 2) i`)
	swept, err := (&idem.Sweeper{Pool: pool}).Sweep(ctx)
	fmt.Println(swept.Keys, swept.Overdue, err)
	var left string
	err = pool.QueryRow(ctx, "SELECT key FROM idem.keys").Scan(&left)
	fmt.Println(left, err)
	// Output:
	// 1 0s <nil>
	// k1 <nil>
}

package idem

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
	"github.com/idemgen/idemgen/schema"
)

// Pitfall 5, for the small statements beside the operation's own transaction: the
// record of a client error, accepted work, and the end of an operation with calls. The
// client is told 503 when their time is over; their commits go on waiting for the
// standby, and nobody sees them before.
func TestPitfall_5_CommitsBesideTheOperationAreNeverCancelled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	server, err := pgserver.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	watch := &shop{pool: idemtest.Open(t, server.URL(), nil)}
	watch.exec(t, schema.Up())
	watch.exec(t, shopTables)
	s := openStation(t, idemtest.Open(t, server.URL(), func(c *pgxpool.Config) { c.MaxConns = 8 }), &till{}, nil,
		createPayment("Create", patience, true), ride("Ride"), payout())
	s.pools.all[0].aside = 2 * time.Second // in which a busy machine gets as far as the commit
	warm(t, s.pool)
	s.till.before = func(context.Context, visit) error {
		setStandby(t, watch, "nobody")
		return Fail(402, "declined", "")
	}
	const negative = `{"order_id": "o1", "amount": -5}`
	asked := []struct {
		what   string
		send   func() *httptest.ResponseRecorder
		status int
	}{
		{"the end of a call", func() *httptest.ResponseRecorder { return s.post("Ride", "k", order1) }, 402},
		{"the record of a client error", func() *httptest.ResponseRecorder { return s.post("Create", "k", negative) }, 422},
		{"accepted work", func() *httptest.ResponseRecorder { return s.post("Payout", "k", order1) }, 202},
	}
	for _, a := range asked {
		if w := a.send(); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", a.what, w.Code, w.Body)
		}
	}
	// The client error's transaction of its own was rolled back, so three commits wait;
	// giving back the lease of the call waits for one of them.
	watch.awaitStandbyWaits(t, len(asked))
	if n := watch.count(t, "SELECT count(*) FROM idem.keys WHERE operation <> 'shop.Ride' OR status <> 0"); n != 0 {
		t.Errorf("%d commits were cut short: they are visible, and no standby has them", n)
	}
	setStandby(t, watch, "")
	watch.await(t, int64(len(asked)), "SELECT count(*) FROM idem.keys WHERE operation = 'shop.Payout' OR status <> 0")
	for _, a := range asked {
		if w := a.send(); w.Code != a.status || !isReplay(w) {
			t.Errorf("%s: %d %s", a.what, w.Code, w.Body)
		}
	}
}

// warm opens all connections of a pool, so that no wait is spent on that.
func warm(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for range pool.Config().MaxConns {
		c, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
	}
}

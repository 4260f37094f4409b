package idem

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

const expiredKeys = `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	SELECT 's', decode(lpad(to_hex(i), 32, '0'), 'hex'), 'o', 'k' || i, '', 200, clock_timestamp() - interval '1 hour'
	FROM generate_series(1, 105) i;
	INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
	VALUES ('s', decode(repeat('ff', 16), 'hex'), 'o', 'fresh', '', 200, 'infinity');
	INSERT INTO idem.outbox (scope, operation, topic, key, payload, status, processed_at)
	SELECT 's', 'o', 't', 'k' || i, '{}', CASE WHEN i = 1 THEN 'DEAD' ELSE 'PROCESSED' END, clock_timestamp() - i * interval '5 days'
	FROM generate_series(1, 3) i`

func TestSweepDeletesWhatIsExpired(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, expiredKeys)
	sweeper := Sweeper{Pool: pool, Batch: 50}
	swept, err := sweeper.Sweep(t.Context())
	if err != nil || swept.Keys != 105 || swept.Events != 2 || swept.Rounds != 4 || swept.Overdue != 0 {
		t.Errorf("%+v %v", swept, err)
	}
	s := &shop{pool: pool}
	if n := s.count(t, "SELECT (SELECT count(*) FROM idem.keys) + (SELECT count(*) FROM idem.outbox)"); n != 2 {
		t.Errorf("%d rows are left", n)
	}
}

// A row that is being claimed anew survives, and is not waited for.
func TestCase_race_6(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, expiredKeys)
	end := hold(t, pool, "UPDATE idem.keys SET expires_at = 'infinity' WHERE key = 'k1'")
	sweeper := Sweeper{Pool: pool}
	swept, err := sweeper.Sweep(t.Context())
	if err != nil || swept.Keys != 104 || swept.Overdue < time.Hour {
		t.Errorf("%+v %v", swept, err)
	}
	end(true)
	if swept, err = sweeper.Sweep(t.Context()); err != nil || swept.Keys != 0 {
		t.Errorf("%+v %v", swept, err)
	}
}

// Sweeping beside a service: every answer stays right.
func TestSweepBesideTraffic(t *testing.T) {
	t.Parallel()
	shops := twoShops(t, func() []*Operation { return []*Operation{charge()} })
	s := shops[0]
	s.exec(t, "UPDATE accounts SET balance = 100000 WHERE id = 1")
	ctx, cancel := context.WithCancel(t.Context())
	swept := make(chan error)
	go func() {
		sweeper := Sweeper{Pool: s.pool, Interval: time.Millisecond}
		swept <- sweeper.Run(ctx)
	}()
	for range 20 {
		s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp()")
		answers := together(shops, 6, func(s *shop) *httptest.ResponseRecorder { return s.post("Charge", "k", `{"amount": 1}`) })
		for _, w := range answers {
			wantStatus(t, w, 201)
		}
	}
	cancel()
	if err := <-swept; err != nil {
		t.Error(err)
	}
	if n := s.count(t, "SELECT 100000 - balance FROM accounts WHERE id = 1"); n != 20 {
		t.Errorf("%d effects of 20", n)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

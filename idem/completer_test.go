package idem

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Two completers side by side: 50 operations that were left behind are continued
// once each.
func TestCompletersSideBySide(t *testing.T) {
	t.Parallel()
	const left = 50
	s := newStation(t, ride("Ride"))
	s.exec(t, "UPDATE accounts SET balance = 1000")
	s.till.before = func(context.Context, visit) error { return errors.New("down") }
	for i := range left {
		wantStatus(t, s.post("Ride", fmt.Sprint("k", i), fmt.Sprintf(`{"order_id": "o%d", "amount": 5}`, i)), 503)
	}
	s.till.before = nil
	s.till.visits = nil
	s.exec(t, "UPDATE idem.work SET due_at = clock_timestamp(), owner = 'gone', lease_until = clock_timestamp() - interval '1 s'")
	s.run(t)
	s.twin(t, ride("Ride")).run(t)
	s.await(t, 0, "SELECT count(*) FROM idem.work")
	for _, what := range []string{"Charge", "Notify"} {
		if asked, done := s.till.times(what); asked != left || done != left {
			t.Errorf("%s: asked %d times, done %d", what, asked, done)
		}
	}
	if n := s.count(t, "SELECT count(*) FROM payments WHERE status = 'paid'"); n != left {
		t.Errorf("%d are paid", n)
	}
	if n := s.count(t, "SELECT 1000 - balance FROM accounts WHERE id = 1"); n != 5*left {
		t.Errorf("%d was moved", n)
	}
}

// Work that this process leaves behind is due, and taken up, without a poll.
func TestCompleterIsWoken(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	s := openStation(t, pool, &till{}, func(o *Options) { o.Completer.Poll = time.Hour }, ride("Ride"), payout())
	s.run(t)
	s.till.before = func(_ context.Context, v visit) error {
		if v.n == 1 {
			return errors.New("down")
		}
		return nil
	}
	wantStatus(t, s.post("Ride", "k", order1), 503)
	s.await(t, 1, "SELECT count(*) FROM payments WHERE status = 'paid'")
	wantStatus(t, s.post("Payout", "k", `{"order_id": "o2", "amount": 5}`), 202)
	s.await(t, 2, "SELECT count(*) FROM payments WHERE status = 'paid'")
}

// Run ends when the call under way has, whose results are kept, and gives the
// lease back: another goes on at once.
func TestCompleterStops(t *testing.T) {
	t.Parallel()
	s := newStation(t, ride("Ride"))
	s.till.before = func(context.Context, visit) error { return errors.New("down") }
	wantStatus(t, s.post("Ride", "k", order1), 503)
	entered, back := make(chan struct{}), make(chan struct{})
	s.till.before = func(_ context.Context, v visit) error {
		if v.n == 2 {
			close(entered)
			<-back
		}
		return nil
	}
	stopping, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(stopping) }()
	within(t, entered)
	cancel()
	select {
	case <-ended:
		t.Fatal("Run ended with a call under way")
	default:
	}
	close(back)
	if err := within(t, ended); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE step = 2 AND owner IS NULL AND lease_until IS NULL AND due_at <= clock_timestamp()"); n != 1 {
		t.Errorf("%d are given back behind the call", n)
	}
	s.twin(t, ride("Ride")).run(t)
	s.await(t, 0, "SELECT count(*) FROM idem.work")
	s.till.want(t, 2, 1, 0, 0)
	s.settled(t)
}

// Each database has its completer.
func TestCompleterOfEveryPool(t *testing.T) {
	t.Parallel()
	pools := map[string]*pgxpool.Pool{"t1": idemtest.Pool(t, shopTables), "t2": idemtest.Pool(t, shopTables)}
	s := openStation(t, nil, &till{}, func(o *Options) {
		o.Pool = func(scope string) *pgxpool.Pool { return pools[scope] }
		o.Pools = []*pgxpool.Pool{pools["t1"], pools["t2"]}
	}, payout())
	s.run(t)
	for tenant, pool := range pools {
		s.pool = pool
		wantStatus(t, s.post("Payout", "k", order1, "X-Tenant", tenant), 202)
		s.await(t, 1, "SELECT count(*) FROM payments WHERE status = 'paid' AND tenant_id = $1", tenant)
	}
}

// What the completer does is told as well, apart from requests.
func TestCompleterIsObserved(t *testing.T) {
	t.Parallel()
	w := newWitness()
	s := openStation(t, idemtest.Pool(t, shopTables), &till{}, func(o *Options) { o.Observer = w }, payout())
	s.run(t)
	wantStatus(t, s.post("Payout", "k", order1), 202)
	within(t, w.ended)
	within(t, w.ended)
	w.mu.Lock()
	defer w.mu.Unlock()
	a, b := w.ends[0], w.ends[1]
	if a.Background {
		a, b = b, a
	}
	if a.Status != 202 || a.Event != EventNew || a.Background || b.Status != 201 || b.Event != EventNew || !b.Background || a.KeyDigest != b.KeyDigest {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// A service without durable operations has no completer: nothing polls.
func TestNoCompleterWithoutNeed(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", patience, true))
	if err := s.completeAll(t.Context()); err != nil { // returns at once
		t.Error(err)
	}
}

package idem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// twoDatabases serves the tenants t1 and t2 from a database each. The second
// has one connection, without named statements.
func twoDatabases(t *testing.T, opts Options, ops ...*Operation) (*shop, map[string]*shop) {
	t.Helper()
	first := idemtest.Pool(t, shopTables)
	second := idemtest.Open(t, idemtest.URL(t, shopTables), func(config *pgxpool.Config) {
		config.MaxConns = 1
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	})
	unlisted := idemtest.Pool(t)
	opts.Pools = []*pgxpool.Pool{first, second, first}
	opts.Pool = func(scope string) *pgxpool.Pool {
		switch scope {
		case "t1":
			return first
		case "t2":
			return second
		case "unlisted":
			return unlisted
		case "panic":
			panic("which database is this")
		}
		return nil
	}
	service, err := New(nil, shopConfig(ops...), shopCaller, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, first, http.NewServeMux()}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return s, map[string]*shop{"t1": {pool: first}, "t2": {pool: second}}
}

// Every statement of a request, also the small ones beside the operation, goes
// to the database of its scope.
func TestPoolOfTheScope(t *testing.T) {
	t.Parallel()
	strict := createPayment("Strict", "2000ms", true)
	strict.Steps[0].Intent = nil
	s, databases := twoDatabases(t, Options{}, createPayment("Create", "2000ms", true), charge(), transfer("Transfer", ReadCommitted), strict)
	for tenant, db := range databases {
		wantStatus(t, s.post("Create", "k1", order1, "X-Tenant", tenant), 201)
		wantStatus(t, s.post("Create", "k1", order1, "X-Tenant", tenant), 201)
		w := s.post("Create", "k2", order1, "X-Tenant", tenant) // by the intent
		wantCode(t, w, 409, "intent-conflict")
		if !strings.Contains(w.Body.String(), `"existing":{"id":1,`) {
			t.Errorf("%s: %s", tenant, w.Body)
		}
		wantCode(t, s.post("Create", "k3", `{"order_id": "o3", "amount": -5}`, "X-Tenant", tenant), 422, "amount_not_positive")
		wantCode(t, s.post("Charge", "k4", `{"amount": 95}`, "X-Tenant", tenant), 409, "too_large")
		wantStatus(t, s.post("Transfer", "k5", `{"from": 1, "to": 2, "amount": 10}`, "X-Tenant", tenant), 201)
		wantCode(t, s.post("Strict", "k6", order1, "X-Tenant", tenant), 409, "already-exists")
		pool, err := s.pools.choose(tenant)
		if err != nil {
			t.Fatal(err)
		}
		inv := newInvocation(s.operations["Create"], pool, tenant)
		inv.protect("k1")
		if found, err := s.find(t.Context(), inv); err != nil || found == nil {
			t.Errorf("%s: the record is not found: %v", tenant, err)
		}
		if n := db.count(t, "SELECT count(*) FROM idem.keys WHERE scope = $1", tenant); n != 6 {
			t.Errorf("%s: %d records of 6", tenant, n)
		}
		if n := db.count(t, "SELECT count(*) FROM idem.keys WHERE scope <> $1", tenant); n != 0 {
			t.Errorf("%s: %d records of others", tenant, n)
		}
		if n := db.count(t, "SELECT 1000 * (SELECT count(*) FROM payments) + balance FROM accounts WHERE id = 1"); n != 1090 {
			t.Errorf("%s: %d", tenant, n)
		}
	}
	if n := databases["t2"].count(t, "SELECT count(*) FROM pg_prepared_statements"); n != 0 {
		t.Errorf("%d named statements on a pool that must have none", n)
	}
}

// A partition's names are looked up in the database that has the partition.
func TestPoolOfTheScopeKnowsItsPartitions(t *testing.T) {
	t.Parallel()
	s, databases := twoDatabases(t, Options{}, createPayment("Create", "2000ms", true))
	databases["t2"].exec(t, `DROP TABLE payments;
		CREATE TABLE payments (id bigint GENERATED ALWAYS AS IDENTITY, tenant_id text NOT NULL, order_id text NOT NULL,
		  amount bigint NOT NULL, note text, status text NOT NULL DEFAULT 'authorized',
		  CONSTRAINT payments_order UNIQUE (tenant_id, order_id)) PARTITION BY HASH (tenant_id);
		CREATE TABLE part PARTITION OF payments FOR VALUES WITH (MODULUS 1, REMAINDER 0)`)
	wantStatus(t, s.post("Create", "k1", order1, "X-Tenant", "t2"), 201)
	wantCode(t, s.post("Create", "k2", order1, "X-Tenant", "t2"), 409, "intent-conflict")
}

// A scope without a database is a fault of the service: logged, and 500.
func TestPoolThatIsNone(t *testing.T) {
	t.Parallel()
	var logged logLines
	failing := createPayment("Failing", "2000ms", true)
	failing.Policy.ServerError = time.Hour
	s, _ := twoDatabases(t, Options{Logger: logged.logger()}, createPayment("Create", "2000ms", true), failing)
	for scope, want := range map[string]string{"unlisted": "that Options.Pools does not list", "panic": "Options.Pool panics: which database is this", "other": "Options.Pool gives no pool"} {
		for _, name := range []Name{"Create", "Failing"} {
			wantCode(t, s.post(name, "k1", order1, "X-Tenant", scope), 500, "internal")
			if text := logged.take(); !strings.Contains(text, want) || strings.Contains(text, "k1") {
				t.Errorf("%s: %s", scope, text)
			}
		}
	}
}

func TestPoolsAreChecked(t *testing.T) {
	one := idemtest.Open(t, "postgres://nobody@127.0.0.1:1/one", nil) // nothing connects
	described := idemtest.Open(t, "postgres://nobody@127.0.0.1:1/described", func(config *pgxpool.Config) {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	})
	choose := func(string) *pgxpool.Pool { return one }
	for want, opts := range map[string]Options{
		"Options.Pools is empty":               {Pool: choose},
		"Options.Pool is nil":                  {Pools: []*pgxpool.Pool{one}},
		"Options.Pools[1] is nil":              {Pool: choose, Pools: []*pgxpool.Pool{one, nil}},
		"QueryExecModeDescribeExec":            {Pool: choose, Pools: []*pgxpool.Pool{one, described}},
		"idem: there is no pool":               {},
		described.Config().ConnConfig.Database: {Pool: choose, Pools: []*pgxpool.Pool{described}},
	} {
		if _, err := New(nil, shopConfig(), shopCaller, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestReadyAsksEveryPool(t *testing.T) {
	t.Parallel()
	s, databases := twoDatabases(t, Options{}, createPayment("Create", "2000ms", true))
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	databases["t2"].exec(t, "DROP SCHEMA idem CASCADE")
	name := databases["t2"].pool.Config().ConnConfig.Database
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), name+": idem: the runtime's tables are missing") {
		t.Errorf("%v does not name %s", err, name)
	}
}

// sweeps is an observer that counts sweeps by database, until both had one.
type sweeps struct {
	mu   sync.Mutex
	seen map[string]SweepEnd
	all  chan struct{} // closed at the second database
}

func (*sweeps) OperationEnded(context.Context, OperationEnd) {}

func (s *sweeps) KeysSwept(_ context.Context, end SweepEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.seen[end.Database]; twice {
		return
	}
	s.seen[end.Database] = end
	if len(s.seen) == 2 {
		close(s.all)
	}
}

func TestRunSweepsEveryPool(t *testing.T) {
	t.Parallel()
	seen := &sweeps{seen: map[string]SweepEnd{}, all: make(chan struct{})}
	s, databases := twoDatabases(t, Options{Observer: seen}, createPayment("Create", "2000ms", true))
	if n := len(s.pools.all); n != 2 {
		t.Errorf("%d pools: one is there twice", n)
	}
	for tenant, db := range databases {
		wantStatus(t, s.post("Create", "k1", order1, "X-Tenant", tenant), 201)
		db.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp() - interval '1 hour'")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	within(t, seen.all)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for tenant, db := range databases {
		conn := db.pool.Config().ConnConfig
		if end := seen.seen[conn.Host+"/"+conn.Database]; end.Keys != 1 || end.Failed || end.Duration <= 0 {
			t.Errorf("%s: %+v", tenant, end)
		}
		if n := db.count(t, "SELECT count(*) FROM idem.keys"); n != 0 {
			t.Errorf("%s: %d keys are left", tenant, n)
		}
	}
}

// A failed sweep is told of, too.
func TestFailedSweepIsObserved(t *testing.T) {
	t.Parallel()
	seen := make(chan SweepEnd, 1)
	s := newShop(t)
	s.exec(t, "DROP SCHEMA idem CASCADE")
	sweeper := Sweeper{Pool: s.pool, Observer: sweepFunc(func(end SweepEnd) { seen <- end; panic("and it panics") })}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- sweeper.Run(ctx) }()
	if end := within(t, seen); !end.Failed || end.Keys != 0 {
		t.Errorf("%+v", end)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Pools are asked at once: one that doesn't answer keeps no other waiting.
func TestPoolsDoNotWaitForEachOther(t *testing.T) {
	both, met := &pools{all: []*pool{{name: "first"}, {name: "second"}}}, make(chan struct{}, 2)
	err := both.each(func(*pool) error {
		met <- struct{}{}
		for deadline := time.Now().Add(20 * time.Second); len(met) < 2; runtime.Gosched() {
			if time.Now().After(deadline) {
				return errors.New("the other one has not begun")
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

type sweepFunc func(SweepEnd)

func (sweepFunc) OperationEnded(context.Context, OperationEnd) {}
func (f sweepFunc) KeysSwept(_ context.Context, end SweepEnd)  { f(end) }

// logLines keeps what is logged.
type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logLines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// take is what was logged since the last call.
func (l *logLines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

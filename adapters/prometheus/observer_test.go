package idemprom

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// signal tells when something has been observed.
type signal struct{ ended, swept chan struct{} }

func (s signal) OperationEnded(context.Context, idem.OperationEnd) { s.ended <- struct{}{} }
func (s signal) KeysSwept(context.Context, idem.SweepEnd)          { s.swept <- struct{}{} }

func newSignal() signal { return signal{make(chan struct{}, 9), make(chan struct{}, 9)} }

func observer(t *testing.T) (*Observer, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	o, err := New(reg)
	if err != nil {
		t.Fatal(err)
	}
	return o, reg
}

// redeem runs a handler under a key, and gives the code of the answer.
func redeem(t *testing.T, pool *pgxpool.Pool, o idem.Observer, key, print string, handler func(context.Context, idem.Tx) (idem.Response, error)) string {
	t.Helper()
	request := idem.Request{Scope: "s", Operation: "Redeem", Key: key, Fingerprint: []byte(print), Observer: o}
	_, _, err := idem.Do(t.Context(), pool, request, handler)
	if err != nil && idem.CodeOf(err) == "" {
		t.Fatal(err)
	}
	return idem.CodeOf(err)
}

func fine(context.Context, idem.Tx) (idem.Response, error) { return idem.Response{}, nil }

func TestRequestsAreCountedByEvent(t *testing.T) {
	o, reg := observer(t)
	pool := idemtest.Pool(t)
	tries := 0
	redeem(t, pool, o, "secret-1", "a", func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
		if tries++; tries == 1 {
			_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")
			return idem.Response{}, err
		}
		return idem.Response{}, nil
	})
	redeem(t, pool, o, "secret-1", "a", fine)
	redeem(t, pool, o, "secret-1", "b", fine)
	redeem(t, pool, o, "secret-2", "a", func(context.Context, idem.Tx) (idem.Response, error) {
		return idem.Response{}, idem.Fail(409, "gone", "Gone")
	})
	redeem(t, pool, o, "secret-3", "a", func(context.Context, idem.Tx) (idem.Response, error) {
		return idem.Response{}, errors.New("unexpected")
	})
	want := `
# HELP idemgen_operations_total Requests to operations, by what became of them.
# TYPE idemgen_operations_total counter
idemgen_operations_total{event="client_error",operation="Redeem",service=""} 1
idemgen_operations_total{event="duplicate",operation="Redeem",service=""} 1
idemgen_operations_total{event="mismatch",operation="Redeem",service=""} 1
idemgen_operations_total{event="new",operation="Redeem",service=""} 1
idemgen_operations_total{event="server_error",operation="Redeem",service=""} 1
# HELP idemgen_retries_total Transactions that failed and were tried again.
# TYPE idemgen_retries_total counter
idemgen_retries_total{operation="Redeem",reason="serialization",service=""} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "idemgen_operations_total", "idemgen_retries_total", "idemgen_operations_abandoned_total"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(o.duration); n != 5 {
		t.Errorf("%d histograms, not one per event", n)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("names against the conventions of Prometheus: %v %v", problems, err)
	}
}

func TestOperationsOfAService(t *testing.T) {
	o, reg := observer(t)
	get := &idem.Operation{
		Name: "GetThing", Method: http.MethodGet, Path: "/things", Status: 200, Strategy: idem.Direct, Policy: idem.Policy{Timeout: 1e9},
		SQL:   "-- statement: unkeyed\nSELECT false, 200::smallint, NULL::text, '{}'::text, NULL::bytea",
		Steps: []idem.Step{{Name: "GetThing"}},
	}
	svc, err := idem.New(idemtest.Pool(t), idem.Config{Service: "shop", Profile: idem.ProfileIETF, Operations: []*idem.Operation{get}, Scope: -1},
		func(*http.Request) ([]any, error) { return nil, nil }, idem.Options{Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	svc.Handler("GetThing").ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/things", nil))
	want := `
# HELP idemgen_operations_total Requests to operations, by what became of them.
# TYPE idemgen_operations_total counter
idemgen_operations_total{event="new",operation="GetThing",service="shop"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "idemgen_operations_total"); err != nil {
		t.Error(err)
	}
}

func TestAbandonedRequestsAreCounted(t *testing.T) {
	o, _ := observer(t)
	seen, pool := newSignal(), idemtest.Pool(t)
	ctx, leave := context.WithCancel(t.Context())
	work := make(chan struct{})
	request := idem.Request{Scope: "s", Operation: "Redeem", Key: "k", Observer: idem.Observers(o, seen)}
	_, _, err := idem.Do(ctx, pool, request, func(context.Context, idem.Tx) (idem.Response, error) {
		leave()
		<-work
		return idem.Response{}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(work)
	<-seen.ended
	if n := testutil.ToFloat64(o.abandoned.WithLabelValues("", "Redeem")); n != 1 {
		t.Errorf("%v abandoned", n)
	}
	if n := testutil.ToFloat64(o.operations.WithLabelValues("", "Redeem", "new")); n != 1 {
		t.Errorf("%v that ran", n)
	}
}

// sweepOnce lets a sweeper run until one sweep has been observed.
func sweepOnce(t *testing.T, o idem.Observer, pool *pgxpool.Pool) {
	t.Helper()
	seen := newSignal()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- (&idem.Sweeper{Pool: pool, Observer: idem.Observers(o, seen).(idem.SweepObserver)}).Run(ctx)
	}()
	<-seen.swept
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSweepsAreCounted(t *testing.T) {
	o, reg := observer(t)
	pool := idemtest.Pool(t, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
		SELECT 's', decode(lpad(to_hex(i), 32, '0'), 'hex'), 'o', 'k' || i, '', 200, clock_timestamp() - interval '1 hour' FROM generate_series(1, 7) i`)
	held, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "SELECT FROM idem.keys WHERE key = 'k1' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	sweepOnce(t, o, pool)
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	database := pool.Config().ConnConfig.Host + "/" + pool.Config().ConnConfig.Database
	if n := testutil.ToFloat64(o.sweptKeys.WithLabelValues(database)); n != 6 {
		t.Errorf("%v keys", n)
	}
	if s := testutil.ToFloat64(o.overdue.WithLabelValues(database)); s < 3600 || s > 4000 {
		t.Errorf("overdue for %v seconds, not an hour", s)
	}
	if _, err := pool.Exec(t.Context(), "DROP SCHEMA idem CASCADE"); err != nil {
		t.Fatal(err)
	}
	sweepOnce(t, o, pool)
	if s := testutil.ToFloat64(o.overdue.WithLabelValues(database)); s < 3600 {
		t.Errorf("a failed sweep says that nothing is overdue: %v", s)
	}
	for result, want := range map[string]float64{"ok": 1, "failed": 1} {
		if n := testutil.ToFloat64(o.sweeps.WithLabelValues(database, result)); n != want {
			t.Errorf("%v %s sweeps", n, result)
		}
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("names against the conventions of Prometheus: %v %v", problems, err)
	}
}

// A second Observer in one registry is refused, and leaves nothing behind.
func TestNewRegistersAllOrNothing(t *testing.T) {
	reg := prometheus.NewRegistry()
	taken := prometheus.NewGauge(prometheus.GaugeOpts{Name: "idemgen_overdue_seconds", Help: "of another"})
	reg.MustRegister(taken)
	if _, err := New(reg); err == nil {
		t.Fatal("two metrics of one name")
	}
	other, _ := observer(t)
	if err := reg.Register(other.operations); err != nil {
		t.Errorf("a metric of the refused Observer is still there: %v", err)
	}
}

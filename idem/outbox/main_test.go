package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) {
	if os.Getenv("IDEMGEN_TEST_LOG") == "" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	if os.Getenv(childEnv) != "" {
		dispatchUntilKilled()
		return
	}
	idemtest.Main(m)
}

// events is SQL that makes n pending events, of order_key order unless it is "".
func events(topic, order string, from, n int) string {
	return fmt.Sprintf(`INSERT INTO idem.outbox (scope, operation, topic, key, order_key, payload)
		SELECT 's', 'svc.Op', '%[1]s', '%[1]s-' || i, nullif('%[2]s', ''), json_build_object('n', i)
		FROM generate_series(%[3]d, %[4]d) i ORDER BY i`, topic, order, from, from+n-1)
}

func run(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

func ask[T any](t testing.TB, pool *pgxpool.Pool, sql string, args ...any) (v T) {
	t.Helper()
	if err := pool.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	return v
}

// recorder is a Func that remembers the keys it was given, in their order.
type recorder struct {
	mu   sync.Mutex
	keys []string
	fail func(Event) error // nil: never
}

func (r *recorder) Deliver(_ context.Context, e Event) (Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, e.Key)
	if r.fail != nil {
		return Answer{}, r.fail(e)
	}
	return Answer{}, nil
}

func (r *recorder) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.keys...)
}

// start runs a dispatcher until the test, or stop, ends it; it fails the test where
// Run fails.
func start(t testing.TB, d *Dispatcher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// eventually waits for a condition in the database.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(45 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("it never happens that %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func statuses(t testing.TB, pool *pgxpool.Pool) string {
	t.Helper()
	return ask[string](t, pool, `SELECT coalesce(string_agg(status || ' ' || n, ', ' ORDER BY status), '')
		FROM (SELECT status, count(*) n FROM idem.outbox GROUP BY 1) x`)
}

package outbox

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// childEnv makes this test binary a dispatcher that another one kills: it holds
// the database's URL, and the receiver's in childSink.
const (
	childEnv  = "IDEMGEN_OUTBOX_TEST_DATABASE"
	childSink = "IDEMGEN_OUTBOX_TEST_RECEIVER"
)

var kills = flag.Int("kills", 5, "how often the dispatcher's process is killed")

// dispatchUntilKilled is the child.
func dispatchUntilKilled() {
	pool, err := pgxpool.New(context.Background(), os.Getenv(childEnv))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := &Dispatcher{Pool: pool, Lease: time.Second, Interval: 50 * time.Millisecond, Batch: 20, Sinks: map[string]Sink{"*": &HTTP{URL: os.Getenv(childSink)}}}
	fmt.Println("ready")
	fmt.Println(d.Run(context.Background()))
}

// receiver counts what arrives, and fails now and then.
type receiver struct {
	mu     sync.Mutex
	times  map[string]int    // deliveries by key
	bodies map[string]string // by key
	latest map[string]int    // by ordering key: the first delivery of each comes in order
	wrong  []string
	calls  int
	some   chan struct{} // a sign of life
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	text, _ := io.ReadAll(q.Body)
	key := q.Header.Get("Idempotency-Key")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls++; r.calls%61 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.times[key]++; r.times[key] == 1 {
		r.bodies[key] = string(text)
		var order string
		var n int
		if _, err := fmt.Sscanf(string(bytes.ReplaceAll(text, []byte(`"`), nil)), "{order : %s n : %d}", &order, &n); err != nil {
			r.wrong = append(r.wrong, string(text))
		} else if n != r.latest[order]+1 {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %d after %d", order, n, r.latest[order]))
		}
		r.latest[order] = n
	} else if r.bodies[key] != string(text) {
		r.wrong = append(r.wrong, "another body for "+key)
	}
	select {
	case r.some <- struct{}{}:
	default:
	}
}

// A dispatcher's process is killed again and again under load. Every event
// arrives at least once, all deliveries of one have one key and body, and the first
// deliveries of an ordering key come in order. `-kills 100` is the long form.
func TestKilledDispatcherLosesNothing(t *testing.T) {
	pool := idemtest.Pool(t)
	r := &receiver{times: map[string]int{}, bodies: map[string]string{}, latest: map[string]int{}, some: make(chan struct{}, 1)}
	server := httptest.NewServer(r)
	defer server.Close()
	written := 0
	for range *kills {
		child := startChild(t, pool, server.URL)
		for range 10 {
			writeOrdered(t, pool, written, 10)
			written += 10
			<-r.some
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
	}
	startChild(t, pool, server.URL)
	defer func() {
		if t.Failed() {
			t.Log(ask[string](t, pool, `SELECT concat(count(*), ' are left, of which ', count(*) FILTER (WHERE due_at = 'infinity'), ' wait; the first of each key: ',
				(SELECT string_agg(concat_ws(' ', order_key, key, status, attempt, failures, due_at, lease_owner), E'\n')
					FROM (SELECT DISTINCT ON (order_key) * FROM idem.outbox WHERE status <> 'PROCESSED' ORDER BY order_key, created_at, id) h), E'\n', clock_timestamp())
				FROM idem.outbox WHERE status <> 'PROCESSED'`))
		}
	}()
	eventually(t, "all are processed", func() bool {
		return ask[int](t, pool, "SELECT count(*) FROM idem.outbox WHERE status = 'PROCESSED'") == written
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.times) != written || len(r.wrong) > 0 {
		t.Errorf("%d of %d events arrived; wrong: %v", len(r.times), written, r.wrong)
	}
	t.Logf("%d events, %d requests", written, r.calls)
}

func startChild(t *testing.T, pool *pgxpool.Pool, receiver string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+pool.Config().ConnString(), childSink+"="+receiver)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child says %q: %v", line, err)
	}
	return child
}

// writeOrdered writes n events in one statement, of twenty ordering keys in turn.
func writeOrdered(t *testing.T, pool *pgxpool.Pool, from, n int) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `INSERT INTO idem.outbox (scope, operation, topic, key, order_key, payload)
		SELECT 's', 'o', 'a', 'k-' || i, 'order-' || i % 20, json_build_object('order', 'order-' || i % 20, 'n', i / 20 + 1)
		FROM generate_series($1::int, $2::int) i ORDER BY i`, from, from+n-1)
	if err != nil {
		t.Fatal(err)
	}
}

package idemnats_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	idemnats "github.com/idemgen/idemgen/adapters/nats"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/outbox"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if os.Getenv(childDatabase) != "" {
		consumeUntilKilled()
		return
	}
	idemtest.Main(m)
}

// newStream is a NATS server in this process, with a stream of order.>.
func newStream(t *testing.T) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "orders", Subjects: []string{"order.>"}})
	if err != nil {
		t.Fatal(err)
	}
	return js, stream
}

// Each event is a message with its key as the id; delivered again, the stream
// leaves it out.
func TestEventsAreMessages(t *testing.T) {
	js, stream := newStream(t)
	pool := idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
		SELECT 's', 'o', 'order.created', 'k-' || i, 'one', '{"traceparent": "00-1"}', json_build_object('n', i) FROM generate_series(1, 20) i ORDER BY i`)
	d := &outbox.Dispatcher{Pool: pool, Sinks: map[string]outbox.Sink{"order.*": &idemnats.Sink{Stream: js}}}
	for range 2 {
		if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 20 {
			t.Fatalf("%+v %v", done, err)
		}
		if _, err := pool.Exec(t.Context(), "UPDATE idem.outbox SET status = 'PENDING', due_at = clock_timestamp()"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := stream.Info(t.Context())
	if err != nil || info.State.Msgs != 20 {
		t.Fatalf("%d messages, %v", info.State.Msgs, err)
	}
	for n := range 20 {
		m, err := stream.GetMsg(t.Context(), uint64(n+1))
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("k-%d", n+1)
		if m.Subject != "order.created" || m.Header.Get("Nats-Msg-Id") != key || m.Header.Get("Idempotency-Key") != key ||
			len(m.Header["traceparent"]) != 1 || string(m.Data) != fmt.Sprintf(`{"n" : %d}`, n+1) {
			t.Errorf("%s %v %s", m.Subject, m.Header, m.Data)
		}
	}
}

// A subject that no stream has is tried again: somebody may make the stream.
func TestNoStreamIsTriedAgain(t *testing.T) {
	js, _ := newStream(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	sink := &idemnats.Sink{Stream: js, Subject: func(outbox.Event) string { return "nobody.has.this" }}
	pool := idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, payload, failures) VALUES ('s', 'o', 'a', 'k', '{}', 9)`)
	done, err := (&outbox.Dispatcher{Pool: pool, Sinks: map[string]outbox.Sink{"*": sink}}).Dispatch(ctx)
	if err != nil || done.Failed != 1 {
		t.Errorf("%+v %v", done, err)
	}
}

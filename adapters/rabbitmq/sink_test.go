package idemrabbit_test

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	idemrabbit "github.com/idemgen/idemgen/adapters/rabbitmq"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/outbox"
)

// Events are confirmed messages with their key as the id; one that no queue takes
// is tried again; and a broken connection is made anew.
func TestEventsAreConfirmedMessages(t *testing.T) {
	dial := startBroker(t)
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := channel.QueueDeclare("paid", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	var made []*amqp.Connection
	sink := &idemrabbit.Sink{Dial: func() (*amqp.Connection, error) {
		conn, err := dial()
		made = append(made, conn)
		return conn, err
	}}
	defer func() { _ = sink.Close() }()
	const row = `INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload, failures)
		SELECT 's', 'o', $1, $1 || '-' || i, 'one', '{"traceparent": "00-1"}', json_build_object('n', i), 9 FROM generate_series($2::int, $3::int) i ORDER BY i`
	pool := idemtest.Pool(t)
	d := &outbox.Dispatcher{Pool: pool, Sinks: map[string]outbox.Sink{"*": sink}}
	send := func(topic string, from, to int, want outbox.Dispatched) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), row, topic, from, to); err != nil {
			t.Fatal(err)
		}
		if done, err := d.Dispatch(t.Context()); err != nil || done != want {
			t.Fatalf("%+v %v", done, err)
		}
	}
	send("paid", 1, 10, outbox.Dispatched{Processed: 10})
	send("nobody", 1, 1, outbox.Dispatched{Failed: 1})
	if err := made[0].Close(); err != nil {
		t.Fatal(err)
	}
	send("paid", 11, 20, outbox.Dispatched{Processed: 10})
	for n := 1; n <= 20; n++ {
		m, ok, err := channel.Get("paid", true)
		if err != nil || !ok {
			t.Fatalf("message %d: %t %v", n, ok, err)
		}
		if m.MessageId != fmt.Sprintf("paid-%d", n) || m.DeliveryMode != amqp.Persistent || string(m.Body) != fmt.Sprintf(`{"n" : %d}`, n) ||
			m.Headers["traceparent"] != "00-1" || m.Headers[idemrabbit.HeaderKey] != m.MessageId {
			t.Errorf("%+v", m)
		}
	}
}

package idemrabbit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	amqp "github.com/rabbitmq/amqp091-go"

	idemrabbit "github.com/idemgen/idemgen/adapters/rabbitmq"
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/consume"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// shelf counts messages in a database, each once: what emitted services do, with
// idem.Do in place of their statement.
type shelf struct {
	pool *pgxpool.Pool
	// then is called after the commit, and before the disposition is told.
	then func(m consume.Message)
}

func newShelf(t *testing.T) *shelf {
	return &shelf{pool: idemtest.Pool(t, "CREATE TABLE effects (n int NOT NULL, id text NOT NULL)"), then: func(consume.Message) {}}
}

func (s *shelf) Consume(ctx context.Context, m consume.Message) (consume.Disposition, error) {
	if m.ID == "" {
		return consume.Dead, idem.Fail(400, "message-id-missing", "The message has no id")
	}
	var n int
	if _, err := fmt.Sscanf(string(m.Body), `{"n": %d}`, &n); err != nil {
		return consume.Dead, idem.Fail(422, "input-invalid", "No number")
	}
	_, _, err := idem.Do(ctx, s.pool, idem.Request{Scope: m.Scope, Operation: "Shelve", Key: m.ID}, func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
		_, err := tx.Exec(ctx, "INSERT INTO effects VALUES ($1, $2)", n, m.ID)
		return idem.Response{Status: 204}, err
	})
	if err != nil {
		return consume.Retry, err
	}
	s.then(m)
	return consume.Ack, nil
}

// counts are how many effects and different messages there are.
func (s *shelf) counts(t *testing.T) (effects, messages int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), "SELECT count(*), count(DISTINCT id) FROM effects").Scan(&effects, &messages); err != nil {
		t.Fatal(err)
	}
	return effects, messages
}

// broker is a RabbitMQ with a channel of the test's own.
type broker struct {
	dial    func() (*amqp.Connection, error)
	channel *amqp.Channel
}

func newBroker(t *testing.T) *broker {
	t.Helper()
	dial := startBroker(t)
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return &broker{dial, channel}
}

func (b *broker) queue(t *testing.T, name string) {
	t.Helper()
	if _, err := b.channel.QueueDeclare(name, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
}

func (b *broker) publish(t *testing.T, queue, id, body string) {
	t.Helper()
	if err := b.channel.PublishWithContext(t.Context(), "", queue, false, false, amqp.Publishing{MessageId: id, DeliveryMode: amqp.Persistent, Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
}

func (b *broker) consumer(queue string, h consume.Handler) *idemrabbit.Consumer {
	return &idemrabbit.Consumer{Dial: b.dial, Queue: queue, Handler: h,
		Settings: consume.Settings{MaxAttempts: 3, Logger: slog.New(slog.DiscardHandler), Delay: func(int) time.Duration { return 0 }}}
}

func run(t *testing.T, c *idemrabbit.Consumer, done func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to an end")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// ready is how many messages wait in a queue, none of them out for acknowledgement.
func (b *broker) ready(t *testing.T, queue string) int {
	t.Helper()
	q, err := b.channel.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

// One broker for all: it takes seconds to start.
func TestConsumer(t *testing.T) {
	b := newBroker(t)
	t.Run("DuplicatesAndFailures", func(t *testing.T) { consumesOnce(t, b) })
	t.Run("ConnectionLost", func(t *testing.T) { survivesLostConnection(t, b) })
	t.Run("Poison", func(t *testing.T) { buriesPoison(t, b) })
	t.Run("Documented", func(t *testing.T) { documentedConsumerConsumes(t, b) })
	t.Run("StopUnderLoad", func(t *testing.T) { stopsUnderLoad(t, b) })
}

// Published twice under one id, and failing once: one effect each.
func consumesOnce(t *testing.T, b *broker) {
	s := newShelf(t)
	b.queue(t, "once")
	for range 2 {
		for n := range 20 {
			b.publish(t, "once", fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
		}
	}
	var mu sync.Mutex
	failed, acked := map[string]bool{}, 0
	run(t, b.consumer("once", consume.HandlerFunc(func(ctx context.Context, m consume.Message) (consume.Disposition, error) {
		mu.Lock()
		first := !failed[m.ID]
		failed[m.ID] = true
		mu.Unlock()
		if first {
			return consume.Retry, errors.New("not yet")
		}
		if m.Topic != "once" || m.Scope != "once" {
			t.Errorf("%+v", m)
		}
		d, err := s.Consume(ctx, m)
		mu.Lock()
		acked++
		mu.Unlock()
		return d, err
	})), func() bool { mu.Lock(); defer mu.Unlock(); return acked == 40 })
	if effects, messages := s.counts(t); effects != 20 || messages != 20 {
		t.Errorf("%d effects of %d messages", effects, messages)
	}
	if left := b.ready(t, "once"); left != 0 {
		t.Errorf("%d messages left", left)
	}
}

// The connection is gone between commit and acknowledgement: the message is delivered
// again, and has no second effect.
func survivesLostConnection(t *testing.T, b *broker) {
	s := newShelf(t)
	b.queue(t, "lost")
	b.publish(t, "lost", "m-1", `{"n": 1}`)
	c := b.consumer("lost", s)
	var conn *amqp.Connection
	c.Dial = func() (*amqp.Connection, error) {
		var err error
		conn, err = b.dial()
		return conn, err
	}
	deliveries := make(chan struct{}, 10)
	s.then = func(consume.Message) {
		deliveries <- struct{}{}
		if len(deliveries) == 1 {
			_ = conn.Close()
		}
	}
	if err := c.Run(t.Context()); err == nil {
		t.Error("Run does not tell that its connection is gone")
	}
	run(t, c, func() bool { return len(deliveries) == 2 })
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
	if left := b.ready(t, "lost"); left != 0 {
		t.Errorf("%d messages left", left)
	}
}

// Poison goes to the dead letters with its reason, and the consumer goes on. Sent
// again, it comes with its id and topic.
func buriesPoison(t *testing.T, b *broker) {
	s := newShelf(t)
	b.queue(t, "poison")
	b.queue(t, "poison.dead")
	b.publish(t, "poison", "", `{"n": 1}`)
	b.publish(t, "poison", "m-2", "not even JSON")
	b.publish(t, "poison", "m-3", `{"n": 3000000000}`) // no int: it fails each time
	b.publish(t, "poison", "m-4", `{"n": 4}`)
	run(t, b.consumer("poison", s), func() bool { return b.ready(t, "poison.dead") == 3 })
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
	reasons := map[string]string{}
	for range 3 {
		letter, ok, err := b.channel.Get("poison.dead", true)
		if err != nil || !ok || letter.Headers[consume.HeaderTopic] != "poison" || letter.DeliveryMode != amqp.Persistent {
			t.Fatalf("%+v %v", letter, err)
		}
		reasons[string(letter.Body)] = fmt.Sprint(letter.MessageId, " ", letter.Headers[consume.HeaderReason])
	}
	for body, want := range map[string]string{
		`{"n": 1}`: " 400 message-id-missing", "not even JSON": "m-2 422 input-invalid", `{"n": 3000000000}`: "m-3 given up after 3 deliveries",
	} {
		if !strings.HasPrefix(reasons[body], want) {
			t.Errorf("%s: %q, want %q", body, reasons[body], want)
		}
	}
}

// Stopped again and again under load: what was begun is done, nothing is lost, nothing
// has two effects.
func stopsUnderLoad(t *testing.T, b *broker) {
	s := newShelf(t)
	b.queue(t, "load")
	const all = 400
	for n := range all {
		b.publish(t, "load", fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
	}
	var mu sync.Mutex
	begun, ended := 0, 0
	seen := func() (int, int) { mu.Lock(); defer mu.Unlock(); return begun, ended }
	c := b.consumer("load", consume.HandlerFunc(func(ctx context.Context, m consume.Message) (consume.Disposition, error) {
		mu.Lock()
		begun++
		mu.Unlock()
		d, err := s.Consume(ctx, m)
		mu.Lock()
		ended++
		mu.Unlock()
		return d, err
	}))
	for range 4 {
		from, _ := seen()
		run(t, c, func() bool { begun, _ := seen(); return begun >= from+40 })
		begun, ended := seen()
		if begun != ended || begun < from+40 {
			t.Errorf("stopped at %d begun, %d ended", begun, ended)
		}
		if left := b.ready(t, "load"); left != all-ended {
			t.Errorf("%d messages left of %d, %d ended", left, all, ended)
		}
	}
	run(t, c, func() bool { _, ended := seen(); return ended == all })
	if effects, messages := s.counts(t); effects != all || messages != all {
		t.Errorf("%d effects of %d messages", effects, messages)
	}
	if left := b.ready(t, "load"); left != 0 {
		t.Errorf("%d messages left", left)
	}
}

package idemnats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	idemnats "github.com/idemgen/idemgen/adapters/nats"
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

func publish(t *testing.T, js jetstream.JetStream, id, body string) {
	t.Helper()
	m := nats.NewMsg("order.created")
	m.Data = []byte(body)
	if id != "" {
		m.Header.Set(idemnats.HeaderKey, id)
	}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// newConsumer is a durable consumer, and a stream for its dead letters.
func newConsumer(t *testing.T, js jetstream.JetStream, h consume.Handler, ackWait time.Duration) *idemnats.Consumer {
	t.Helper()
	if _, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "dead", Subjects: []string{"dead.>"}}); err != nil {
		t.Fatal(err)
	}
	messages, err := js.CreateOrUpdateConsumer(t.Context(), "orders", jetstream.ConsumerConfig{Durable: "shelf", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait})
	if err != nil {
		t.Fatal(err)
	}
	return &idemnats.Consumer{Messages: messages, Stream: js, Handler: h,
		Settings: consume.Settings{MaxAttempts: 3, Delay: func(int) time.Duration { return 10 * time.Millisecond }}}
}

// run consumes until done says so, and gives Run's error.
func run(t *testing.T, c *idemnats.Consumer, done func() bool) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	until(t, done)
	stop()
	return <-ended
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to an end")
		}
	}
}

// settled reports that nothing is left, nor out for acknowledgement.
func settled(t *testing.T, c *idemnats.Consumer) func() bool {
	return func() bool {
		info, err := c.Messages.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.NumPending == 0 && info.NumAckPending == 0
	}
}

// Published twice under one id, and failing once: one effect each.
func TestConsumedMessagesHaveOneEffect(t *testing.T) {
	js, _ := newStream(t)
	s := newShelf(t)
	for range 2 {
		for n := range 20 {
			publish(t, js, fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
		}
	}
	var mu sync.Mutex
	failed := map[string]bool{}
	c := newConsumer(t, js, consume.HandlerFunc(func(ctx context.Context, m consume.Message) (consume.Disposition, error) {
		mu.Lock()
		first := !failed[m.ID]
		failed[m.ID] = true
		mu.Unlock()
		if first {
			return consume.Retry, errors.New("not yet")
		}
		return s.Consume(ctx, m)
	}), time.Minute)
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	if effects, messages := s.counts(t); effects != 20 || messages != 20 {
		t.Errorf("%d effects of %d messages", effects, messages)
	}
}

// The connection is gone between commit and acknowledgement: the message is delivered
// again, to another process, and has no second effect.
func TestConnectionLostBeforeTheAcknowledgement(t *testing.T) {
	js, _ := newStream(t)
	url := js.Conn().ConnectedUrl()
	s := newShelf(t)
	publish(t, js, "m-1", `{"n": 1}`)
	conn, err := nats.Connect(url, nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	lost, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	deliveries := make(chan int, 10)
	s.then = func(m consume.Message) {
		deliveries <- m.Attempt
		if m.Attempt == 1 {
			conn.Close()
		}
	}
	if err := newConsumer(t, lost, s, time.Second).Run(t.Context()); err == nil {
		t.Error("Run does not tell that its connection is gone")
	}
	c := newConsumer(t, js, s, time.Second)
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	if first, second := <-deliveries, <-deliveries; first != 1 || second != 2 {
		t.Errorf("deliveries %d and %d", first, second)
	}
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
}

// Poison goes to the dead letters with its reason, and the consumer goes on.
func TestPoisonGoesToTheDeadLetters(t *testing.T) {
	js, _ := newStream(t)
	s := newShelf(t)
	publish(t, js, "", `{"n": 1}`)
	publish(t, js, "m-2", "not even JSON")
	publish(t, js, "m-3", `{"n": 3000000000}`) // no int: it fails each time
	publish(t, js, "m-4", `{"n": 4}`)
	c := newConsumer(t, js, s, time.Minute)
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
	dead, err := js.Stream(t.Context(), "dead")
	if err != nil {
		t.Fatal(err)
	}
	info, err := dead.Info(t.Context())
	if err != nil || info.State.Msgs != 3 {
		t.Fatalf("%d dead letters, %v", info.State.Msgs, err)
	}
	reasons := map[string]string{}
	for n := range uint64(3) {
		letter, err := dead.GetMsg(t.Context(), n+1)
		if err != nil || letter.Subject != "dead.order.created" || letter.Header.Get(consume.HeaderTopic) != "order.created" {
			t.Fatalf("%+v %v", letter, err)
		}
		reasons[string(letter.Data)] = letter.Header.Get(idemnats.HeaderKey) + " " + letter.Header.Get(consume.HeaderCode) + " " + letter.Header.Get(consume.HeaderReason)
	}
	for body, want := range map[string]string{
		`{"n": 1}`: " message-id-missing 400", "not even JSON": "m-2 input-invalid 422", `{"n": 3000000000}`: "m-3 internal given up after 3 deliveries",
	} {
		if !strings.HasPrefix(reasons[body], want) {
			t.Errorf("%s: %q, want %q", body, reasons[body], want)
		}
	}
}

// Where the dead letter can't be published, the message stays.
func TestDeadLetterThatNobodyTakesIsNotLost(t *testing.T) {
	js, _ := newStream(t)
	publish(t, js, "m-1", "not even JSON")
	c := newConsumer(t, js, newShelf(t), time.Minute)
	nowhere := true
	var mu sync.Mutex
	c.DeadSubject = func(consume.Message) string {
		mu.Lock()
		defer mu.Unlock()
		if nowhere {
			nowhere = false
			return "nobody.has.this"
		}
		return "dead.order"
	}
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	dead, err := js.Stream(t.Context(), "dead")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := dead.Info(t.Context()); err != nil || info.State.Msgs != 1 {
		t.Errorf("%+v %v", info, err)
	}
}

// Stopped again and again under load: what was begun is done, nothing is lost, nothing
// has two effects.
func TestStopUnderLoadLosesNothing(t *testing.T) {
	js, _ := newStream(t)
	s := newShelf(t)
	const all = 400
	for n := range all {
		publish(t, js, fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
	}
	running := make(chan struct{}, all)
	var mu sync.Mutex
	begun, ended := 0, 0
	c := newConsumer(t, js, consume.HandlerFunc(func(ctx context.Context, m consume.Message) (consume.Disposition, error) {
		mu.Lock()
		begun++
		mu.Unlock()
		running <- struct{}{}
		d, err := s.Consume(ctx, m)
		mu.Lock()
		ended++
		mu.Unlock()
		return d, err
	}), time.Minute)
	for range 4 {
		target := len(running) + 50
		if err := run(t, c, func() bool { return len(running) >= target }); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if begun != ended || begun < target {
			t.Errorf("stopped at %d begun, %d ended", begun, ended)
		}
		mu.Unlock()
	}
	if effects, _ := s.counts(t); effects == all {
		t.Error("it was never stopped under load")
	}
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	if effects, messages := s.counts(t); effects != all || messages != all || begun != all {
		t.Errorf("%d effects of %d messages in %d deliveries", effects, messages, begun)
	}
}

// MaxDeliver would drop messages in silence.
func TestConsumerWithMaxDeliverIsRefused(t *testing.T) {
	js, _ := newStream(t)
	c := newConsumer(t, js, newShelf(t), time.Minute)
	messages, err := js.CreateConsumer(t.Context(), "orders", jetstream.ConsumerConfig{Durable: "other", AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 5})
	if err != nil {
		t.Fatal(err)
	}
	c.Messages = messages
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "MaxDeliver") {
		t.Errorf("%v", err)
	}
}

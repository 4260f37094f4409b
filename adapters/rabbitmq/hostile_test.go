package idemrabbit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/consume"
)

// One broker for all: it takes seconds to start.
func TestHostileQueues(t *testing.T) {
	b := newBroker(t)
	t.Run("RetryQueueOfAnotherKind", func(t *testing.T) { endsWhereNothingCanWait(t, b) })
	t.Run("DeadQueueGone", func(t *testing.T) { makesTheDeadQueueAgain(t, b) })
	t.Run("NothingCanBeMoved", func(t *testing.T) { holdsWhatCanNotBeMoved(t, b) })
	t.Run("ReadPanics", func(t *testing.T) { buriesWhatCanNotBeRead(t, b) })
	t.Run("LongIDs", func(t *testing.T) { buriesLongIDs(t, b) })
	t.Run("LongHeaders", func(t *testing.T) { buriesLongHeaders(t, b) })
	t.Run("AttemptsOfAnotherType", func(t *testing.T) { countsOtherIntegers(t, b) })
}

// A queue to wait in is there, of another kind: the broker closes the channel that
// messages are moved by. Run ends with that, instead of handling the same message for ever.
func endsWhereNothingCanWait(t *testing.T, b *broker) {
	b.queue(t, "kind")
	b.queue(t, "kind.retry.100ms") // without a time to live
	b.publish(t, "kind", "m-1", `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := b.consumer("kind", failing(nil)).Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "failed messages can't be moved any more") || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	eventually(t, "the message is back", func() bool { return b.ready(t, "kind") == 1 })
}

// An operator has deleted the queue of dead letters: it is made again.
func makesTheDeadQueueAgain(t *testing.T, b *broker) {
	b.queue(t, "gone")
	var calls atomic.Int32
	c := b.consumer("gone", consume.HandlerFunc(func(context.Context, consume.Message) (consume.Disposition, error) {
		calls.Add(1)
		return consume.Dead, idem.Fail(422, "never", "")
	}))
	ready := make(chan struct{})
	c.Read = func(*amqp.Delivery, *consume.Message) {
		select {
		case <-ready:
		default:
			if _, err := b.channel.QueueDelete("gone.dead", false, false, false); err != nil {
				t.Error(err)
			}
			close(ready)
		}
	}
	b.publish(t, "gone", "m-1", `{}`)
	run(t, c, func() bool {
		select {
		case <-ready:
		default:
			return false
		}
		return calls.Load() >= 2
	})
	b.queue(t, "gone.dead")
	if n := b.ready(t, "gone.dead"); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}

// What can't be moved is held for a while before it is given back, or it would come back
// at once. Others are handled meanwhile, and the end of the run gives it back.
func holdsWhatCanNotBeMoved(t *testing.T, b *broker) {
	b.queue(t, "held")
	conn, err := b.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	own, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	var poison, others atomic.Int32
	c := b.consumer("held", consume.HandlerFunc(func(_ context.Context, m consume.Message) (consume.Disposition, error) {
		if m.ID != "m-1" {
			others.Add(1)
			return consume.Ack, nil
		}
		poison.Add(1)
		_, err := own.QueueDelete("held.dead", false, false, false)
		return consume.Dead, errors.Join(errors.New("never"), err)
	}))
	notMoved := make(chan struct{}, 100)
	c.Logger = slog.New(slog.NewTextHandler(told(notMoved), &slog.HandlerOptions{Level: slog.LevelError}))
	c.Delay = func(int) time.Duration { return time.Hour }
	b.publish(t, "held", "m-1", `{}`)
	published := false
	run(t, c, func() bool {
		if !published && len(notMoved) > 0 {
			published = true
			for range 50 {
				b.publish(t, "held", "m-2", `{}`)
			}
		}
		return others.Load() == 50
	})
	if n := poison.Load(); n != 1 || b.ready(t, "held") != 1 {
		t.Errorf("handled %d times, %d are back", n, b.ready(t, "held"))
	}
}

// told is a writer that leaves a note per line.
type told chan struct{}

func (c told) Write(p []byte) (int, error) {
	select {
	case c <- struct{}{}:
	default:
	}
	return len(p), nil
}

// A message that Read panics of is one that can't be handled.
func buriesWhatCanNotBeRead(t *testing.T, b *broker) {
	b.queue(t, "read")
	b.queue(t, "read.dead")
	var calls atomic.Int32
	c := b.consumer("read", consume.HandlerFunc(func(context.Context, consume.Message) (consume.Disposition, error) {
		calls.Add(1)
		return consume.Ack, nil
	}))
	c.Read = func(d *amqp.Delivery, _ *consume.Message) {
		if d.MessageId == "m-1" {
			panic("secret")
		}
	}
	b.publish(t, "read", "m-1", `{}`)
	b.publish(t, "read", "m-2", `{}`)
	run(t, c, func() bool { return b.ready(t, "read.dead") == 1 && calls.Load() == 1 })
	letter, ok, err := b.channel.Get("read.dead", true)
	if reason, _ := letter.Headers[consume.HeaderReason].(string); err != nil || !ok || reason != "given up after 3 deliveries: Read panicked" {
		t.Errorf("%+v %v", letter.Headers, err)
	}
}

// Attempts are counted on where another program has moved the message.
func countsOtherIntegers(t *testing.T, b *broker) {
	b.queue(t, "moved-on")
	attempts := make(chan int, 5)
	c := b.consumer("moved-on", consume.HandlerFunc(func(_ context.Context, m consume.Message) (consume.Disposition, error) {
		attempts <- m.Attempt
		return consume.Ack, nil
	}))
	for _, before := range []any{int16(2), int32(2), int64(2)} {
		if err := b.channel.PublishWithContext(t.Context(), "", "moved-on", false, false, amqp.Publishing{MessageId: "m", Headers: amqp.Table{"idem-attempt": before}}); err != nil {
			t.Fatal(err)
		}
	}
	run(t, c, func() bool { return len(attempts) == 3 })
	for range 3 {
		if n := <-attempts; n != 3 {
			t.Errorf("attempt %d", n)
		}
	}
}

func failing(calls *atomic.Int32) consume.Handler {
	return consume.HandlerFunc(func(context.Context, consume.Message) (consume.Disposition, error) {
		if calls != nil {
			calls.Add(1)
		}
		return consume.Retry, errors.New("not yet")
	})
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

// Headers that just fit into a frame leave no room for those of a dead letter: the
// broker would end the connection, again and again, for one message. The largest are
// left out.
func buriesLongHeaders(t *testing.T, b *broker) {
	b.queue(t, "long")
	b.queue(t, "long.dead")
	if err := b.channel.PublishWithContext(t.Context(), "", "long", false, false, amqp.Publishing{
		MessageId: "m-1", Headers: amqp.Table{"long": strings.Repeat("x", 130_400), "scope": "s", "list": []any{strings.Repeat("y", 500), amqp.Table{"z": int64(1)}}}, Body: []byte("kept"),
	}); err != nil {
		t.Fatal(err)
	}
	run(t, b.consumer("long", failing(nil)), func() bool { return b.ready(t, "long.dead") == 1 })
	letter, ok, err := b.channel.Get("long.dead", true)
	if err != nil || !ok || string(letter.Body) != "kept" || letter.MessageId != "m-1" || letter.Headers["scope"] != "s" || letter.Headers["list"] == nil ||
		letter.Headers["long"] != nil || letter.Headers[consume.HeaderReason] == nil {
		t.Errorf("%.300v %v", letter.Headers, err)
	}
}

// An id of a header may be longer than a message id: it stays in the header.
func buriesLongIDs(t *testing.T, b *broker) {
	b.queue(t, "long-id")
	b.queue(t, "long-id.dead")
	id := strings.Repeat("i", 300)
	if err := b.channel.PublishWithContext(t.Context(), "", "long-id", false, false, amqp.Publishing{Headers: amqp.Table{"idempotency-key": id}}); err != nil {
		t.Fatal(err)
	}
	run(t, b.consumer("long-id", failing(nil)), func() bool { return b.ready(t, "long-id.dead") == 1 })
	letter, ok, err := b.channel.Get("long-id.dead", true)
	if err != nil || !ok || letter.MessageId != "" || letter.Headers["idempotency-key"] != id {
		t.Errorf("%.300v %v", letter.Headers, err)
	}
}

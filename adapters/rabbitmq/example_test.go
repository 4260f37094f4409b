package idemrabbit_test

import (
	"context"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	idemrabbit "github.com/idemgen/idemgen/adapters/rabbitmq"
	"github.com/idemgen/idemgen/idem/consume"
)

// consumeRabbit consumes the queue orders until ctx ends, or the connection breaks.
func consumeRabbit(ctx context.Context, dial func() (*amqp.Connection, error), svc consume.Handler) error {
	consumer := &idemrabbit.Consumer{Dial: dial, Queue: "orders", Handler: svc}
	return consumer.Run(ctx)
}

func documentedConsumerConsumes(t *testing.T, b *broker) {
	s := newShelf(t)
	b.queue(t, "orders")
	b.publish(t, "orders", "m-1", `{"n": 1}`)
	ctx, stop := context.WithCancel(t.Context())
	s.then = func(consume.Message) { stop() }
	if err := consumeRabbit(ctx, b.dial, s); err != nil {
		t.Fatal(err)
	}
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
}

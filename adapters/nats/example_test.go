package idemnats_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	idemnats "github.com/idemgen/idemgen/adapters/nats"
	"github.com/idemgen/idemgen/idem/consume"
)

// consumeNATS consumes the stream orders until ctx ends.
func consumeNATS(ctx context.Context, js jetstream.JetStream, svc consume.Handler) error {
	messages, err := js.CreateOrUpdateConsumer(ctx, "orders", jetstream.ConsumerConfig{
		Durable: "payments", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		return err
	}
	consumer := &idemnats.Consumer{Messages: messages, Stream: js, Handler: svc}
	return consumer.Run(ctx)
}

func TestDocumentedConsumerConsumes(t *testing.T) {
	js, _ := newStream(t)
	s := newShelf(t)
	publish(t, js, "m-1", `{"n": 1}`)
	ctx, stop := context.WithCancel(t.Context())
	s.then = func(consume.Message) { stop() }
	if err := consumeNATS(ctx, js, s); err != nil {
		t.Fatal(err)
	}
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
}

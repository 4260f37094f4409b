package idemkafka_test

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	idemkafka "github.com/idemgen/idemgen/adapters/kafka"
	"github.com/idemgen/idemgen/idem/consume"
)

// consumeKafka consumes the topic orders until ctx ends.
func consumeKafka(ctx context.Context, brokers []string, svc consume.Handler) error {
	consumer := &idemkafka.Consumer{
		Options: []kgo.Opt{kgo.SeedBrokers(brokers...)},
		Group:   "payments", Topics: []string{"orders"}, Handler: svc,
	}
	return consumer.Run(ctx)
}

func TestDocumentedConsumerConsumes(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	produce(t, client, 0, "m-1", `{"n": 1}`)
	ctx, stop := context.WithCancel(t.Context())
	s.before = func(consume.Message) error {
		stop()
		return nil
	}
	if err := consumeKafka(ctx, cluster.ListenAddrs(), s); err != nil {
		t.Fatal(err)
	}
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
}

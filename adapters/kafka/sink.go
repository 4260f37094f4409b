// Package idemkafka takes events of the outbox to Kafka, with franz-go. It is a
// module of its own, so that nobody gets its dependencies who does not use it.
package idemkafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/idem/outbox"
)

// HeaderKey is the record header with the event's key, by which consumers know
// what they have seen.
const HeaderKey = "idempotency-key"

// Sink produces each event as a record, and waits until all replicas in sync have
// it. Records of one ordering key have the same key, so they go to one partition,
// in order.
type Sink struct {
	// Client is a franz-go client with its defaults: acks from all, idempotent
	// writes. The Sink does not close it.
	Client *kgo.Client
	// Topic chooses Kafka's topic; nil: the event's.
	Topic func(e outbox.Event) string
}

// Deliver produces an event.
func (s *Sink) Deliver(ctx context.Context, e outbox.Event) (outbox.Answer, error) {
	err := produce(ctx, s.Client, s.record(e))
	switch {
	case err == nil:
		return outbox.Answer{}, nil
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.InvalidTopicException), errors.Is(err, kerr.RecordListTooLarge), errors.Is(err, kerr.InvalidRecord):
		return outbox.Answer{}, outbox.Permanent(fmt.Errorf("kafka: %w", err))
	}
	return outbox.Answer{}, fmt.Errorf("kafka: %w", err)
}

// produce waits until the brokers have a record, and no longer than ctx: franz-go
// gives no record up that may be under way, however long a broker is gone. Such a record
// may still arrive, ahead of its next copy.
func produce(ctx context.Context, client *kgo.Client, r *kgo.Record) error {
	produced := make(chan error, 1)
	client.Produce(ctx, r, func(_ *kgo.Record, err error) { produced <- err })
	select {
	case err := <-produced:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Sink) record(e outbox.Event) *kgo.Record {
	r := &kgo.Record{
		Topic: e.Topic, Key: []byte(e.Key), Value: e.Payload, Timestamp: e.CreatedAt,
		Headers: []kgo.RecordHeader{
			{Key: HeaderKey, Value: []byte(e.Key)},
			{Key: "content-type", Value: []byte("application/json")},
			{Key: "event-type", Value: []byte(e.Topic)},
			{Key: "scope", Value: []byte(e.Scope)},
		},
	}
	if e.Ordered {
		r.Key = []byte(e.Scope + "/" + e.OrderKey)
	}
	if s.Topic != nil {
		r.Topic = s.Topic(e)
	}
	for _, name := range []string{"traceparent", "tracestate"} {
		if value := e.Headers[name]; value != "" {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
		}
	}
	return r
}

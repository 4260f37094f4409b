// Package idemnats takes events of the outbox to NATS JetStream. It is a module of
// its own, so that nobody gets its dependencies who does not use it.
package idemnats

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/idemgen/idemgen/idem/outbox"
)

// HeaderKey is the header with the event's key, beside Nats-Msg-Id.
const HeaderKey = "Idempotency-Key"

// Sink publishes each event, and waits until the stream has it. The event's key is
// the message id, by which the stream leaves duplicates out within its window.
type Sink struct {
	// Stream publishes; a stream must have the subjects. The Sink does not close
	// its connection.
	Stream jetstream.JetStream
	// Subject chooses the subject; nil: the event's topic.
	Subject func(e outbox.Event) string
}

// Deliver publishes an event.
func (s *Sink) Deliver(ctx context.Context, e outbox.Event) (outbox.Answer, error) {
	_, err := s.Stream.PublishMsg(ctx, s.message(e))
	switch {
	case err == nil:
		return outbox.Answer{}, nil
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject):
		return outbox.Answer{}, outbox.Permanent(fmt.Errorf("nats: %w", err))
	}
	return outbox.Answer{}, fmt.Errorf("nats: %w", err)
}

func (s *Sink) message(e outbox.Event) *nats.Msg {
	m := nats.NewMsg(e.Topic)
	if s.Subject != nil {
		m.Subject = s.Subject(e)
	}
	m.Data = e.Payload
	m.Header.Set(jetstream.MsgIDHeader, e.Key)
	m.Header.Set(HeaderKey, e.Key)
	m.Header.Set("Content-Type", "application/json")
	m.Header.Set(HeaderType, e.Topic)
	m.Header.Set(HeaderScope, e.Scope)
	for _, name := range []string{"traceparent", "tracestate"} {
		if value := e.Headers[name]; value != "" {
			m.Header[name] = []string{value} // as it is written, not canonical
		}
	}
	return m
}

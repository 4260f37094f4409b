// Package idemrabbit takes events of the outbox to RabbitMQ. It is a module of its
// own, so that nobody gets its dependencies who does not use it.
package idemrabbit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/idemgen/idemgen/idem/outbox"
)

// HeaderKey is the header with the event's key, beside the message id.
const HeaderKey = "idempotency-key"

// Sink publishes each event as a persistent message, and waits until the broker has
// confirmed it. A message that no queue takes counts as a failure. It connects
// when it is needed, and again where the connection breaks.
type Sink struct {
	// Dial connects; required: func() (*amqp.Connection, error) { return amqp.Dial(url) }.
	Dial func() (*amqp.Connection, error)
	// Exchange is the exchange; "": the default one, whose routing keys are queues.
	Exchange string
	// RoutingKey chooses the routing key; nil: the event's topic.
	RoutingKey func(e outbox.Event) string

	mu   sync.Mutex
	link *link
}

// link is a connection with one channel in confirm mode.
type link struct {
	conn     *amqp.Connection
	channel  *amqp.Channel
	returns  chan amqp.Return
	mu       sync.Mutex
	returned map[string]bool // by message id
}

// maxReturns is how many unroutable messages may wait to be told of.
const maxReturns = 1024

// Deliver publishes an event.
func (s *Sink) Deliver(ctx context.Context, e outbox.Event) (outbox.Answer, error) {
	err := s.publish(ctx, e)
	if err != nil {
		err = fmt.Errorf("rabbitmq: %w", err)
	}
	return outbox.Answer{}, err
}

func (s *Sink) publish(ctx context.Context, e outbox.Event) error {
	l, err := s.connect()
	if err != nil {
		return err
	}
	route := e.Topic
	if s.RoutingKey != nil {
		route = s.RoutingKey(e)
	}
	confirmed, err := l.channel.PublishWithDeferredConfirmWithContext(ctx, s.Exchange, route, true, false, message(e))
	if err != nil {
		return err
	}
	ok, err := confirmed.WaitContext(ctx)
	switch {
	case err != nil:
		return err
	case l.wasReturned(e.ID):
		return errors.New("no queue takes the message")
	case !ok:
		return errors.New("the broker refused the message")
	}
	return nil
}

func message(e outbox.Event) amqp.Publishing {
	headers := amqp.Table{HeaderKey: e.Key, "event-id": e.ID, HeaderScope: e.Scope}
	for _, name := range []string{"traceparent", "tracestate"} {
		if value := e.Headers[name]; value != "" {
			headers[name] = value
		}
	}
	return amqp.Publishing{
		MessageId: e.Key, DeliveryMode: amqp.Persistent, ContentType: "application/json", Type: e.Topic,
		Timestamp: e.CreatedAt, Headers: headers, Body: e.Payload,
	}
}

// connect returns the link, a new one where there is none or it has broken.
func (s *Sink) connect() (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil && !s.link.channel.IsClosed() {
		return s.link, nil
	}
	if s.link != nil {
		_ = s.link.conn.Close() // it may be the channel alone that has broken
		s.link = nil
	}
	made, err := s.dial()
	if err != nil {
		return nil, err
	}
	s.link = made
	return made, nil
}

func (s *Sink) dial() (*link, error) {
	conn, err := s.Dial()
	if err != nil {
		return nil, err
	}
	channel, err := conn.Channel()
	if err == nil {
		err = channel.Confirm(false)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	returns := channel.NotifyReturn(make(chan amqp.Return, maxReturns))
	return &link{conn: conn, channel: channel, returns: returns, returned: map[string]bool{}}, nil
}

// wasReturned reports whether a confirmed message came back: a return arrives
// ahead of the confirmation.
func (l *link) wasReturned(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		select {
		case r, open := <-l.returns:
			if !open {
				return l.take(id)
			}
			if of, ok := r.Headers["event-id"].(string); ok {
				l.returned[of] = true
			}
			continue
		default:
		}
		return l.take(id)
	}
}

func (l *link) take(id string) bool {
	was := l.returned[id]
	delete(l.returned, id)
	return was
}

// Close closes the connection, if there is one.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil {
		return nil
	}
	err := s.link.conn.Close()
	s.link = nil
	return err
}

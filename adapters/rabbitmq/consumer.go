package idemrabbit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/idemgen/idemgen/idem/consume"
)

// Headers of messages: whose they are, which [Sink] sets, and what a message keeps
// while it waits for its next delivery.
const (
	HeaderScope   = "scope"
	headerAttempt = "idem-attempt"
	headerTopic   = "idem-topic"
)

// Consumer takes messages of a queue to a handler, and acknowledges them when it is
// done. The topic is the routing key, the id the message id or the header
// idempotency-key.
//
// It declares two kinds of durable queues beside its own: QUEUE.dead for dead letters,
// and QUEUE.retry.DELAY, where failed messages wait, counted, before they come back.
type Consumer struct {
	consume.Settings // Concurrency is the prefetch count too
	// Dial connects; required: func() (*amqp.Connection, error) { return amqp.Dial(url) }.
	Dial func() (*amqp.Connection, error)
	// Queue must exist.
	Queue string
	// Handler handles messages: an emitted service.
	Handler consume.Handler
	// Read may change what was read of a message: its topic, id, type or scope; nil: nothing.
	Read func(from *amqp.Delivery, m *consume.Message)
}

// waits are how long messages may wait: a queue each, so that none waits behind one
// that waits longer.
var waits = []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute}

// Run consumes until ctx ends and what it has begun is done, or until the connection is
// gone, which is an error: start it again then. Messages that were fetched and not begun
// go back to the queue.
func (c *Consumer) Run(ctx context.Context) error {
	if c.Dial == nil || c.Queue == "" || c.Handler == nil {
		return errors.New("idemrabbit: Consumer needs Dial, Queue and Handler")
	}
	conn, err := c.Dial()
	if err != nil {
		return fmt.Errorf("rabbitmq: %w", err)
	}
	defer func() { _ = conn.Close() }()
	over, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &session{Consumer: c, declared: map[string]bool{}, over: over, end: end}
	if err := s.open(conn); err != nil {
		return fmt.Errorf("rabbitmq: %w", err)
	}
	if err := s.consume(ctx); err != nil {
		return fmt.Errorf("rabbitmq: %w", err)
	}
	return nil
}

// session is a connection's work: a channel that consumes, and one that publishes.
type session struct {
	*Consumer
	channel    *amqp.Channel
	deliveries <-chan amqp.Delivery
	closed     chan *amqp.Error
	over       context.Context // ends with the run, or with one of the channels
	end        context.CancelCauseFunc

	mu       sync.Mutex // one message is published at a time
	out      *amqp.Channel
	returns  chan amqp.Return
	declared map[string]bool // queues of messages that wait
	frame    int             // how large one may be, in bytes
}

const (
	consumerTag = "idem"
	deadSuffix  = ".dead"
)

// errMoving is the end of the channel that messages wait and die by.
var errMoving = errors.New("failed messages can't be moved any more")

func (s *session) open(conn *amqp.Connection) (err error) {
	if s.channel, err = conn.Channel(); err != nil {
		return err
	}
	if s.out, err = conn.Channel(); err != nil {
		return err
	}
	if err := s.out.Confirm(false); err != nil {
		return err
	}
	broken := s.out.NotifyClose(make(chan *amqp.Error, 1))
	go func() { // it ends with the connection, at the latest
		if err := <-broken; err != nil {
			s.end(fmt.Errorf("%w: %w", errMoving, err))
		}
	}()
	s.frame = conn.Config.FrameSize
	s.returns = s.out.NotifyReturn(make(chan amqp.Return, 1))
	if err := s.declare(s.Queue+deadSuffix, nil); err != nil {
		return err
	}
	if err := s.channel.Qos(s.Limit(), 0, false); err != nil {
		return err
	}
	s.closed = s.channel.NotifyClose(make(chan *amqp.Error, 1))
	s.deliveries, err = s.channel.Consume(s.Queue, consumerTag, false, false, false, false, nil)
	return err
}

func (s *session) consume(ctx context.Context) error {
	var work sync.WaitGroup
	slots := make(chan struct{}, s.Limit())
	goesOn := context.AfterFunc(s.over, func() { _ = s.channel.Cancel(consumerTag, false) })
	for d := range s.deliveries {
		if s.over.Err() != nil {
			s.told(ctx, d.Nack(false, true))
			continue
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			s.handle(context.WithoutCancel(ctx), &d)
		})
	}
	goesOn() // the channel answers one question at a time: none while it is closed
	s.end(errors.New("the deliveries have ended"))
	work.Wait()
	select {
	case err := <-s.closed:
		if err != nil {
			return err
		}
		return amqp.ErrClosed
	default:
	}
	if cause := context.Cause(s.over); ctx.Err() == nil && errors.Is(cause, errMoving) {
		return errors.Join(cause, s.channel.Close())
	}
	if ctx.Err() == nil {
		return fmt.Errorf("queue %s is gone", s.Queue)
	}
	return s.channel.Close() // which the broker answers after the acknowledgements
}

// handle tells the broker what became of one message. What waits or is dead is
// published, and confirmed, before the delivery is acknowledged: a crash in between
// makes two of it, of one id.
func (s *session) handle(ctx context.Context, d *amqp.Delivery) {
	m, handler := s.read(d)
	disposition, reason := s.Handle(ctx, handler, m)
	var err error
	switch disposition {
	case consume.Ack:
	case consume.Dead:
		err = s.bury(ctx, d, m, reason)
	default:
		err = s.wait(ctx, d, m)
	}
	if err != nil {
		s.Log().ErrorContext(ctx, "message not moved; it stays", "topic", m.Topic, "disposition", disposition.String(), "error", err)
		s.hold(s.After(m.Attempt))
		s.told(ctx, d.Nack(false, true))
		return
	}
	s.told(ctx, d.Ack(false))
}

// hold keeps a message that could not be moved for a while: given back at once it
// would come back at once.
func (s *session) hold(wait time.Duration) {
	timer := time.NewTimer(min(wait, longestHold))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.over.Done():
	}
}

// longestHold is far below the time after which brokers take unacknowledged messages
// for lost, half an hour.
const longestHold = time.Minute

// told logs what could not be sent; the broker delivers the message again then.
func (s *session) told(ctx context.Context, err error) {
	if err != nil {
		s.Log().WarnContext(ctx, "acknowledgement not sent; the message comes again", "error", err)
	}
}

// read gives a message, and what is to handle it.
func (c *Consumer) read(d *amqp.Delivery) (consume.Message, consume.Handler) {
	headers := http.Header{}
	for name, value := range d.Headers {
		switch text := value.(type) {
		case string:
			headers.Add(name, text)
		case []byte:
			headers.Add(name, string(text))
		}
	}
	m := consume.Message{
		ID:    consume.First(d.MessageId, headers.Get(HeaderKey)),
		Topic: consume.First(headers.Get(headerTopic), d.RoutingKey), Type: d.Type, Scope: c.Queue, Body: d.Body, Headers: headers, Attempt: 1,
	}
	m.Attempt += attemptsOf(d.Headers[headerAttempt])
	if c.Read == nil {
		return m, c.Handler
	}
	handler := consume.Amend(&m, c.Handler, func(m *consume.Message) { c.Read(d, m) })
	return m, handler
}

// attemptsOf is how often a message has failed. Whoever moves messages between queues
// may write the number as another type.
func attemptsOf(header any) int {
	var before int64
	switch n := header.(type) {
	case int32:
		before = int64(n)
	case int64:
		before = n
	case int16:
		before = int64(n)
	case int8:
		before = int64(n)
	case byte:
		before = int64(n)
	}
	return int(min(max(before, 0), 1<<30))
}

// wait puts a failed message into the queue that gives it back after a while.
func (s *session) wait(ctx context.Context, d *amqp.Delivery, m consume.Message) error {
	delay, want := waits[0], s.After(m.Attempt)
	for _, w := range waits {
		if w <= want {
			delay = w
		}
	}
	p := copyOf(d)
	p.Headers[headerAttempt], p.Headers[headerTopic] = int32(min(m.Attempt, 1<<30)), consume.First(m.Headers.Get(headerTopic), d.RoutingKey)
	return s.publish(ctx, fmt.Sprintf("%s.retry.%s", s.Queue, delay), amqp.Table{
		"x-message-ttl": delay.Milliseconds(), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": s.Queue,
	}, p)
}

// bury puts a message to the dead letters. Sent again, it is a new delivery of the same
// id: what it keeps of its attempts is taken away.
func (s *session) bury(ctx context.Context, d *amqp.Delivery, m consume.Message, reason error) error {
	p := copyOf(d)
	delete(p.Headers, headerAttempt)
	p.Headers[headerTopic] = m.Topic
	switch { // by which it is known when it is sent again
	case p.MessageId != "":
	case len(m.ID) <= longestID:
		p.MessageId = m.ID
	default:
		p.Headers[HeaderKey] = m.ID
	}
	for name, value := range consume.DeadHeaders(m, reason) {
		p.Headers[name] = value
	}
	return s.publish(ctx, s.Queue+deadSuffix, nil, p)
}

// longestID is how many bytes a message id has at most, as AMQP's short strings do.
const longestID = 255

func copyOf(d *amqp.Delivery) amqp.Publishing {
	headers := maps.Clone(d.Headers)
	if headers == nil {
		headers = amqp.Table{}
	}
	for _, name := range []string{"x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason"} {
		delete(headers, name) // or they grow with every delivery
	}
	return amqp.Publishing{
		Headers: headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: amqp.Persistent, Priority: d.Priority,
		CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, MessageId: d.MessageId, Timestamp: d.Timestamp, Type: d.Type, AppId: d.AppId, Body: d.Body,
	}
}

// declare makes a queue, once, and again where it is found to be gone. The caller has
// mu, or nobody else the session.
func (s *session) declare(queue string, args amqp.Table) error {
	if s.declared[queue] {
		return nil
	}
	_, err := s.out.QueueDeclare(queue, true, false, false, false, args)
	s.declared[queue] = err == nil
	return err
}

// publish sends a message to a queue, which is declared first, and waits until the
// broker has it.
func (s *session) publish(ctx context.Context, queue string, args amqp.Table, p amqp.Publishing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.declare(queue, args); err != nil {
		return err
	}
	fit(p.Headers, s.frame)
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	confirmed, err := s.out.PublishWithDeferredConfirmWithContext(ctx, "", queue, true, false, p)
	if err != nil {
		return err
	}
	ok, err := confirmed.WaitContext(ctx)
	if err != nil {
		return err
	}
	select {
	case <-s.returns: // which comes ahead of the confirmation
		delete(s.declared, queue)
		return fmt.Errorf("queue %s is gone", queue)
	default:
	}
	if !ok {
		return errors.New("the broker refused the message")
	}
	return nil
}

const publishTime = 10 * time.Second

package idemnats

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/idemgen/idemgen/idem/consume"
)

// Headers by which messages tell their type and whose they are; [Sink] sets both.
const (
	HeaderType  = "Event-Type"
	HeaderScope = "Scope"
)

// Consumer takes messages of a JetStream consumer to a handler, and acknowledges them
// when it is done. The topic is the subject, the id Idempotency-Key, else Nats-Msg-Id.
type Consumer struct {
	consume.Settings
	// Messages is a durable pull consumer with explicit acknowledgements and without
	// MaxDeliver: what is given up goes to the dead letters, and MaxDeliver would drop it.
	Messages jetstream.Consumer
	// Stream publishes dead letters; a stream must have their subjects.
	Stream jetstream.JetStream
	// Handler handles messages: an emitted service.
	Handler consume.Handler
	// DeadSubject chooses the subject of a dead letter; nil: "dead." and its own.
	DeadSubject func(m consume.Message) string
	// Read may change what was read of a message: its topic, id, type or scope; nil: nothing.
	Read func(from jetstream.Msg, m *consume.Message)
}

// flushTime bounds how long Run waits for its last acknowledgements to be sent.
const flushTime = 5 * time.Second

// Run consumes until ctx ends and what it has begun is done, or until the JetStream
// consumer or the connection is gone, which is an error. Messages that were fetched and
// not begun are given back.
func (c *Consumer) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	fetched, err := c.Messages.Messages(jetstream.PullMaxMessages(c.Limit()), jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	defer fetched.Stop()
	defer context.AfterFunc(ctx, fetched.Drain)()
	var work sync.WaitGroup
	slots := make(chan struct{}, c.Limit())
	for {
		msg, err := fetched.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) && ctx.Err() != nil {
			break
		}
		if err != nil {
			work.Wait()
			return fmt.Errorf("nats: %w", err)
		}
		if ctx.Err() != nil {
			c.told(ctx, msg.Nak())
			continue
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			c.handle(context.WithoutCancel(ctx), msg)
		})
	}
	work.Wait()
	flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	return c.Stream.Conn().FlushWithContext(flushing)
}

// check refuses a consumer that would lose messages or never end one.
func (c *Consumer) check() error {
	if c.Messages == nil || c.Stream == nil || c.Handler == nil {
		return errors.New("idemnats: Consumer needs Messages, Stream and Handler")
	}
	cfg := c.Messages.CachedInfo().Config
	switch {
	case cfg.AckPolicy != jetstream.AckExplicitPolicy:
		return fmt.Errorf("idemnats: consumer %s must have AckPolicy explicit", cfg.Durable)
	case cfg.MaxDeliver > 0:
		return fmt.Errorf("idemnats: consumer %s has MaxDeliver %d, after which messages would be lost: remove it, and set MaxAttempts here", cfg.Durable, cfg.MaxDeliver)
	}
	return nil
}

// handle tells the server what became of one message.
func (c *Consumer) handle(ctx context.Context, msg jetstream.Msg) {
	m, handler := c.read(msg)
	stop := c.keepAlive(msg)
	d, reason := c.Handle(ctx, handler, m)
	if d == consume.Dead {
		if err := c.bury(ctx, msg, m, reason); err != nil {
			c.Log().ErrorContext(ctx, "dead letter not published; the message stays", "topic", m.Topic, "error", err)
			d = consume.Retry
		}
	}
	stop()
	switch d {
	case consume.Ack:
		c.told(ctx, msg.Ack())
	case consume.Dead:
		c.told(ctx, msg.Term()) // the dead letter has the reason; servers before 2.10.4 ignore TermWithReason
	default:
		c.told(ctx, msg.NakWithDelay(c.After(m.Attempt)))
	}
}

// told logs what could not be sent; the server delivers the message again then.
func (c *Consumer) told(ctx context.Context, err error) {
	if err != nil {
		c.Log().WarnContext(ctx, "acknowledgement not sent; the message comes again", "error", err)
	}
}

// keepAlive tells the server that the message is worked on, until stop is called.
func (c *Consumer) keepAlive(msg jetstream.Msg) (stop func()) {
	wait := c.Messages.CachedInfo().Config.AckWait
	if wait <= 0 {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(max(wait/3, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = msg.InProgress() // a lost connection shows at the acknowledgement
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// read gives a message, and what is to handle it.
func (c *Consumer) read(msg jetstream.Msg) (consume.Message, consume.Handler) {
	headers := http.Header{}
	for name, values := range msg.Headers() {
		for _, value := range values {
			headers.Add(name, value)
		}
	}
	info := c.Messages.CachedInfo()
	m := consume.Message{
		ID:    consume.First(headers.Get(HeaderKey), headers.Get(jetstream.MsgIDHeader)),
		Topic: msg.Subject(), Type: headers.Get(HeaderType), Scope: consume.First(info.Config.Durable, info.Name), Body: msg.Data(), Headers: headers,
	}
	if meta, err := msg.Metadata(); err == nil {
		m.Attempt = int(min(meta.NumDelivered, 1<<30))
	}
	if c.Read == nil {
		return m, c.Handler
	}
	handler := consume.Amend(&m, c.Handler, func(m *consume.Message) { c.Read(msg, m) })
	return m, handler
}

// bury publishes a dead letter, and waits until a stream has it. Its message id is made
// of the message's place, so that twice buried is once there.
func (c *Consumer) bury(ctx context.Context, msg jetstream.Msg, m consume.Message, reason error) error {
	dead := nats.NewMsg("dead." + msg.Subject())
	if c.DeadSubject != nil {
		if err := consume.Guard("DeadSubject", func() { dead.Subject = c.DeadSubject(m) }); err != nil {
			return err
		}
	}
	dead.Data = msg.Data()
	for name, values := range msg.Headers() {
		if !strings.HasPrefix(name, "Nats-") { // which are instructions for the first stream
			dead.Header[name] = values
		}
	}
	for name, value := range consume.DeadHeaders(m, reason) {
		dead.Header.Set(name, value)
	}
	if m.ID != "" {
		dead.Header.Set(HeaderKey, m.ID) // by which it is known when it is sent again
	}
	if meta, err := msg.Metadata(); err == nil {
		dead.Header.Set(jetstream.MsgIDHeader, fmt.Sprintf("dead-%s-%d", meta.Stream, meta.Sequence.Stream))
	}
	_, err := c.Stream.PublishMsg(ctx, dead)
	return err
}

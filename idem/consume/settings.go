package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/idemgen/idemgen/idem"
)

// Settings is what every adapter's consumer may choose. The zero value works.
type Settings struct {
	// Concurrency bounds the messages that are handled at once; 0: 8.
	Concurrency int
	// MaxAttempts is the delivery after whose failure a message goes to the dead
	// letters; 0: 10. While the database can't be reached, or a twin runs, no message
	// is given up: it is none of its faults.
	MaxAttempts int
	// Delay is how long to wait after a failed attempt, which counts from 1; nil:
	// [Backoff].
	Delay func(attempt int) time.Duration
	// Logger is told of messages that fail or go to the dead letters, never with ids or
	// bodies; nil: slog.Default().
	Logger *slog.Logger
}

const (
	defaultConcurrency = 8
	defaultAttempts    = 10
	firstDelay         = 500 * time.Millisecond
	longestDelay       = 5 * time.Minute
	maxReason          = 500 // bytes of a reason, in a header of dead letters
)

// Limit is Concurrency with its default.
func (s Settings) Limit() int {
	if s.Concurrency > 0 {
		return s.Concurrency
	}
	return defaultConcurrency
}

// After is Delay with its default, also where Delay panics.
func (s Settings) After(attempt int) time.Duration {
	if s.Delay == nil {
		return Backoff(attempt)
	}
	var wait time.Duration
	if err := Guard("Delay", func() { wait = s.Delay(attempt) }); err != nil {
		return Backoff(attempt)
	}
	return wait
}

// Log is Logger with its default.
func (s Settings) Log() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.Default()
}

// Backoff is 0.5 s, doubling to 5 min, half of it random.
func Backoff(attempt int) time.Duration {
	base := longestDelay
	if shift := max(attempt, 1) - 1; shift < 10 {
		base = min(firstDelay<<shift, longestDelay)
	}
	return base/2 + rand.N(base/2+1)
}

// Handle has h handle the message, and gives it up after MaxAttempts. A panic of h is a
// failure. What is not acknowledged is logged with its reason.
func (s Settings) Handle(ctx context.Context, h Handler, m Message) (Disposition, error) {
	d, err := guarded(ctx, h, m)
	limit := s.MaxAttempts
	if limit <= 0 {
		limit = defaultAttempts
	}
	if d == Retry && m.Attempt >= limit && !passes(err) {
		d, err = Dead, fmt.Errorf("given up after %d deliveries: %w", m.Attempt, err)
	}
	if d == Ack {
		return d, nil
	}
	if err == nil {
		err = errors.New("the handler gave no reason")
	}
	s.Log().WarnContext(ctx, "message not acknowledged", "topic", m.Topic, "disposition", d.String(), "attempt", m.Attempt, "error", err)
	return d, err
}

// guarded calls the handler in a goroutine of its own, which it may end: an adapter
// must not lose track of the message for it.
func guarded(ctx context.Context, h Handler, m Message) (d Disposition, err error) {
	d, err = Retry, errors.New("the handler ended its goroutine")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				d, err = Retry, fmt.Errorf("the handler panicked: %v", p)
			}
		}()
		var reason error
		if d, reason = h.Consume(ctx, m); d != Ack && reason != nil {
			_, _ = reason.Error(), passes(reason) // asked again later, where a panic would end the process
		}
		err = reason
	}()
	<-ended
	return d, err
}

// passes reports a failure that says nothing about the message.
func passes(err error) bool {
	switch idem.CodeOf(err) {
	case "unavailable", "in-flight":
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Headers of a dead letter, beside those of the message.
const (
	HeaderReason  = "Idem-Dead-Reason"
	HeaderCode    = "Idem-Dead-Code"    // of the *idem.Error, where it is one
	HeaderTopic   = "Idem-Dead-Topic"   // where the message came from
	HeaderAttempt = "Idem-Dead-Attempt" // how often it was delivered; 0: not known
)

// DeadHeaders say why a message is a dead letter. Every value is one line.
func DeadHeaders(m Message, reason error) map[string]string {
	headers := map[string]string{HeaderReason: oneLine(fmt.Sprint(reason)), HeaderTopic: oneLine(m.Topic), HeaderAttempt: fmt.Sprint(m.Attempt)}
	if code := idem.CodeOf(reason); code != "" {
		headers[HeaderCode] = code
	}
	return headers
}

// oneLine fits a text into a header of any broker.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxReason {
		s = s[:maxReason]
	}
	return strings.ToValidUTF8(s, "")
}

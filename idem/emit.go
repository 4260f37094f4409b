package idem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idemgen/gen"
)

// OutboxEvent is an event that Go code writes with Emit.
type OutboxEvent struct {
	// Topic says what it tells of, as in "payment.refunded": 1 to 200 letters,
	// digits and . _ - / :.
	Topic string
	// OrderKey: the events of one scope and topic with the same one go in order. ""
	// is none. Those that begin with the same 255 characters count as the same.
	OrderKey string
	// Payload is made JSON by encoding/json; a json.RawMessage is taken as it is.
	Payload any
}

// Emit writes an event to the outbox, in the transaction of the Go step or of the
// handler of Do that ctx was given to: it is there if that commits, once per
// execution, and never for a replay. Each call is a round trip.
//
// It fails where ctx is of neither, where the operation has no key, and where
// topic or payload can't be; return that error, it is a fault (500). An error of
// PostgreSQL is returned as it is, and must be returned as well.
// Like the transaction, it is for the function's own goroutine.
func Emit(ctx context.Context, event OutboxEvent) error {
	e, ok := ctx.Value(emitterKey{}).(*emitter)
	if !ok {
		return errors.New("idem: Emit is called with a context that no Go step, and no handler of Do, was given")
	}
	return e.emit(ctx, event)
}

type emitterKey struct{}

// emitter writes the events of one run of a function.
type emitter struct {
	tx      Tx
	inv     *invocation
	step    string
	written map[string]int // by topic
}

// withEmitter lets a function write events into tx.
func withEmitter(ctx context.Context, inv *invocation, tx Tx, step string) context.Context {
	return context.WithValue(ctx, emitterKey{}, &emitter{tx: tx, inv: inv, step: step})
}

func (e *emitter) emit(ctx context.Context, event OutboxEvent) error {
	if e.inv.op.Key.From == KeyNone && e.inv.handler == nil {
		return fmt.Errorf("idem: the operation %s has no key, so it can emit no event: the same request would tell of itself twice", e.inv.op.stored)
	}
	payload, err := event.check()
	if err != nil {
		return err
	}
	if e.written == nil {
		e.written = map[string]int{}
	}
	e.written[event.Topic]++
	e.inv.emitted = true
	label := e.step + " " + event.Topic
	_, err = e.tx.Exec(ctx, gen.InsertEvent, e.inv.scope, e.inv.op.stored, event.Topic, e.inv.eventKey(label, e.written[event.Topic]),
		optionalText(event.OrderKey), optionalText(string(e.inv.trace)), string(payload))
	return err
}

func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// maxTopic is the length of a topic in bytes.
const maxTopic = 200

// check gives the payload as JSON.
func (event *OutboxEvent) check() ([]byte, error) {
	if !isTopic(event.Topic) {
		return nil, fmt.Errorf("idem: %.250q can't be the topic of an event: 1 to %d letters, digits and . _ - / :", event.Topic, maxTopic)
	}
	if !utf8.ValidString(event.OrderKey) || strings.ContainsRune(event.OrderKey, 0) {
		return nil, fmt.Errorf("idem: the ordering key of an event %s is no text for PostgreSQL: it is not UTF-8, or holds U+0000", event.Topic)
	}
	raw, err := json.Marshal(event.Payload)
	if err != nil {
		return nil, fmt.Errorf("idem: the payload of an event %s: %w", event.Topic, err)
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("idem: the payload of an event %s is not UTF-8", event.Topic)
	}
	return raw, nil
}

func isTopic(s string) bool {
	outside := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("._-/:", r)
	}
	return s != "" && len(s) <= maxTopic && !strings.ContainsFunc(s, outside)
}

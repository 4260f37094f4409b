// Package consume is what adapters of brokers share: they read messages, an emitted
// service handles them, and its disposition says what the broker is told. It uses only
// the standard library and package idem.
package consume

import (
	"context"

	"github.com/idemgen/idemgen/idem"
)

// Message is a message of a broker; see [idem.Message].
type Message = idem.Message

// Disposition says what a broker is to be told of a message.
type Disposition = idem.Disposition

// The dispositions; see package idem.
const (
	Retry = idem.Retry
	Ack   = idem.Ack
	Dead  = idem.Dead
)

// Handler handles messages, many at once; an emitted service is one. The error is the
// reason of Retry and Dead.
type Handler interface {
	Consume(ctx context.Context, m Message) (Disposition, error)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, m Message) (Disposition, error)

// Consume calls f.
func (f HandlerFunc) Consume(ctx context.Context, m Message) (Disposition, error) { return f(ctx, m) }

// First gives the first of the values that isn't empty, "" if there is none: where a
// message's id or type can stand in several places.
func First(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

package outbox

import (
	"context"
	"encoding/json"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// Event is what a sink is given.
type Event struct {
	ID        string // of its row
	Scope     string
	Operation string // that wrote it: service.Operation
	Topic     string
	// Key is the same at every delivery of this event, and of no other event: who
	// receives it tells by it what it has seen.
	Key string
	// OrderKey: events of one scope and topic with one OrderKey are delivered one
	// after the other. Only where Ordered is set.
	OrderKey string
	Ordered  bool
	// Headers has the trace context (traceparent, tracestate) of the request that
	// wrote it, where there was one.
	Headers   map[string]string
	Payload   json.RawMessage
	CreatedAt time.Time // by the database's clock
	// Try counts deliveries that were seen to end, from 1. One that was cut off
	// with its process is not counted.
	Try int
}

// Answer is what a receiver said, kept with the event. The zero value is none.
type Answer struct {
	Status  int               // of HTTP; 0: none
	Header  map[string]string // those worth keeping
	Content string            // text of at most 64 KiB; "": none, or not kept
}

// Sink takes events to their receiver. It is called by many goroutines at once.
// An error means: try again later, unless it is one of Permanent. A panic is an
// error. The context ends with the dispatcher's Timeout, with a lost lease, and
// some time after the dispatcher was told to stop.
type Sink interface {
	Deliver(ctx context.Context, e Event) (Answer, error)
}

// Func is a Sink made of a function.
type Func func(ctx context.Context, e Event) error

// Deliver calls the function.
func (f Func) Deliver(ctx context.Context, e Event) (Answer, error) { return Answer{}, f(ctx, e) }

// eventOf reads a row. Headers that are no object of texts, which no operation
// writes, are left out: they keep no event from its receiver.
func eventOf(row *gen.ClaimEventsRow) Event {
	e := Event{
		ID: row.ID, Scope: row.Scope, Operation: row.Operation, Topic: row.Topic, Key: row.Key,
		OrderKey: row.OrderKey.String, Ordered: row.OrderKey.Valid,
		Payload: row.Payload, CreatedAt: row.CreatedAt.Time, Try: int(row.Failures) + 1,
	}
	if len(row.Headers) > 0 && json.Unmarshal(row.Headers, &e.Headers) != nil {
		e.Headers = nil
	}
	return e
}

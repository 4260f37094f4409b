package outbox

import (
	"context"
	"time"
)

// Observer is told how every delivery ends, by many goroutines at once, once that
// is committed. One that panics is logged and disturbs nothing. No type here can
// hold a key or a payload.
type Observer interface {
	DeliveryEnded(ctx context.Context, end DeliveryEnd)
}

// Outcome says what became of a delivery.
type Outcome string

// The outcomes.
const (
	OutcomeDispatched Outcome = "dispatched" // the event is PROCESSED
	OutcomeRetry      Outcome = "retry"      // it is tried again later
	OutcomeDead       Outcome = "dead"       // it is DEAD
	OutcomeReleased   Outcome = "released"   // it was cut off, and is tried again at once
	OutcomeLate       Outcome = "late"       // the lease was lost: it counts for nothing
)

// DeliveryEnd is how one delivery ended.
type DeliveryEnd struct {
	Database  string // HOST/NAME
	Topic     string
	Operation string
	Outcome   Outcome
	Status    int           // of the receiver's answer; 0: none
	Try       int           // the first is 1
	Duration  time.Duration // of the delivery
	// Age is the time from the event's creation to the end of the delivery. It is
	// as right as the clocks of the two machines agree.
	Age time.Duration
}

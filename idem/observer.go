package idem

import (
	"context"
	"time"
)

// Observer is told how every request to an operation ends: exactly once each,
// also where it was refused before the claim, and where its client went away. An
// Observer may implement StartObserver, RetryObserver and SweepObserver as well.
//
// Its methods are called by many goroutines at once, between the answer and the
// client, so they should be quick. One that panics is logged and disturbs
// nothing. No type here can hold a key, an input or a body.
type Observer interface {
	// OperationEnded is called when the work is done and just before its answer
	// is sent, with the context that OperationStarted gave.
	OperationEnded(ctx context.Context, end OperationEnd)
}

// StartObserver is an Observer of beginnings, for tracing.
type StartObserver interface {
	// OperationStarted is called before anything of a request is read. The
	// context it returns is that of all that follows: of the caller function and
	// of the statements that a pgx tracer of the pool sees.
	OperationStarted(ctx context.Context, start OperationStart) context.Context
}

// RetryObserver is an Observer of attempts that are followed by another one.
type RetryObserver interface {
	// OperationRetried is called before the next attempt.
	OperationRetried(ctx context.Context, retry OperationRetry)
}

// SweepObserver is an Observer of sweeps.
type SweepObserver interface {
	// KeysSwept is called after each sweep of one database, with what was done,
	// also where it failed in the end.
	KeysSwept(ctx context.Context, end SweepEnd)
}

// Event says what became of a request: what it did here, not whether the client
// got the answer. docs/operations.md has the table.
type Event string

// The events.
const (
	EventNew         Event = "new"          // it ran, and its writes are committed
	EventForceRetry  Event = "force_retry"  // the same, in place of an older record
	EventDuplicate   Event = "duplicate"    // it was answered by a record
	EventProcessing  Event = "processing"   // its key, or a row it needs, is in use by another request
	EventMismatch    Event = "mismatch"     // its key has a record of another request
	EventConflict    Event = "conflict"     // its business intent was done under another key
	EventClientError Event = "client_error" // any other answer from 400 to 499
	EventServerError Event = "server_error" // any other answer above 499
	EventIgnored     Event = "ignored"      // a delivery or message of a type that no operation takes
)

// OperationStart is what is known of a request ahead.
type OperationStart struct {
	Service   string
	Operation Name
	Strategy  Strategy
	Method    string // of the route; "" for Do
	Path      string // chi pattern, with {names} in place of values; "" for Do
}

// OperationEnd is how a request ended.
type OperationEnd struct {
	OperationStart
	Event    Event
	Status   int           // of the answer
	Code     string        // of the problem, where the answer was made from one here and now
	Duration time.Duration // from OperationStarted on, waiting for a twin included
	Attempts int           // transactions begun; 0: refused before the claim, or while a twin ran
	// Abandoned: the client had gone away, or had been told 503 because the
	// operation took longer than its timeout.
	Abandoned bool
	// Background: no request waited, the completer did it: an async operation, whose
	// request has ended with 202 before, or one that was left unfinished.
	Background bool
	// KeyDigest is the beginning of a hash of operation and key, in hexadecimal:
	// equal for requests with the same key. "" without a key.
	KeyDigest string
}

// OperationRetry is an attempt that failed and is followed by another one.
type OperationRetry struct {
	OperationStart
	Reason   RetryReason
	SQLState string // "" where PostgreSQL did not say why
	Attempt  int    // the one that failed; the first is 1
}

// RetryReason says why another attempt is made; docs/operations.md.
type RetryReason string

// The reasons.
const (
	RetrySerialization  RetryReason = "serialization"   // 40001
	RetryDeadlock       RetryReason = "deadlock"        // 40P01
	RetryStaleStatement RetryReason = "stale_statement" // 26000, 42P05, 0A000: a prepared statement does not fit
	RetryUnsent         RetryReason = "unsent"          // no connection, or one that broke before it was used
	RetryLostConnection RetryReason = "lost_connection" // and the key has no record
	RetryVanished       RetryReason = "vanished"        // the record or row that was met is gone
)

// SweepEnd is how one sweep ended.
type SweepEnd struct {
	Database string // HOST/NAME
	Swept
	Duration time.Duration
	Failed   bool // the sweeper logs why
}

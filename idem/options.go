package idem

import (
	"context"
	"crypto/cipher"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options is what a service may choose when it starts. The zero value works.
type Options struct {
	Logger      *slog.Logger // slog.Default() if nil
	ProblemBase string       // "urn:idemgen:problem:" if empty
	Sweeper     Sweeper      // Pool is filled in; zero values are defaults
	Completer   Completer    // zero values are defaults

	// Go are the functions of Go steps, by name. New fails, and names each, where
	// one is missing.
	Go map[string]GoFunc
	// Call and Undo are the functions of call steps, by name; as with Go.
	Call map[string]CallFunc
	Undo map[string]UndoFunc

	// Outbox dispatches the events of the operations: it is told of each commit
	// that wrote some, and Run runs it. Nil: other processes dispatch.
	Outbox Outbox

	// Webhooks verify deliveries, by system. New fails, and names each, where one is
	// missing, where one is of a system that no operation is a webhook of, and where
	// one has a method Check() error that fails.
	Webhooks map[string]Verifier

	// MessageScope says whose a message is; nil, or where it gives "": Message.Scope,
	// which adapters fill with the consumer group, else the service's name. An error
	// makes the message [Dead], an *Error with a status above 499 has it delivered again.
	// It is called for every message, by many goroutines at once.
	MessageScope func(Message) (string, error)

	// Observer is told how every request ends, and more if it implements more;
	// see Observers for several, and docs/operations.md. It is told of the sweeps of
	// Run as well, unless Sweeper has an observer of its own.
	Observer Observer
	// Seal encrypts the bodies of records of operations with record=sealed, and
	// opens every record that was sealed; required where there is such an
	// operation. To rotate keys, give an AEAD that seals with the newest and opens
	// with any. It is used by many goroutines at once.
	Seal cipher.AEAD
	// Pool chooses the database of a scope: its keys, records and rows are all
	// there. It must give one scope the same pool for as long as a record is kept,
	// and one of Pools or that of New: anything else, nil too, is a fault and
	// answered with 500.
	// It is called for every request, by many goroutines. Nil: one pool for all.
	Pool func(scope string) *pgxpool.Pool
	// Pools lists every pool that Pool may give, that of New apart: New checks
	// them, Ready asks and Run sweeps each of them.
	Pools []*pgxpool.Pool

	// Problem makes the bodies of all refusals in a form of your own; nil: those
	// of the profile. What the operations declare is rendered once, by New, which
	// fails where the function panics or gives no content type, no body, or one
	// that can't be recorded (not UTF-8, U+0000, above 1 MiB). For other errors it
	// is called when they occur, by many goroutines at once; where it fails then,
	// the default body is sent, and the log says why. The error is a copy without
	// its cause. Records keep the body that was sent.
	Problem func(*Error) (contentType string, body []byte)
	// AuthorizeReplay is asked before a record is answered, of a success or of a
	// problem, with the values of Config.Caller of this request; never for a first
	// answer. A replay runs no SQL of the operation, so what authorizes inside does
	// not see it. An *Error with a status from 400 to 599 is answered as it is, an
	// error that wraps context.DeadlineExceeded with 503 unavailable, a panic with
	// 500 internal, any other error with 403 forbidden; none of these is recorded.
	// Where ctx was cancelled, its error is 503 as well: the client has gone.
	// It holds no connection while it runs, and ctx is that of the request. Nil:
	// whoever has the scope may see its records.
	AuthorizeReplay func(ctx context.Context, operation Name, caller []any) error
}

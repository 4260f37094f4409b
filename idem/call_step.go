package idem

import (
	"context"
	"time"
)

// CallStep is a step that calls another system: a Go function of the service that
// runs outside any transaction and holds no connection. What came before it is
// committed, and the operation continues behind it wherever it was left.
type CallStep struct {
	Func string // its name in Options.Call
	// In are the values that the function takes, and Step.Args where each comes
	// from.
	In []Field
	// Out are the values that it returns, as those of a GoStep.
	Out []GoResult
	// BigintString: a bigint is a string in the answer (`json: {bigint: string}`).
	BigintString bool
	// Undo is the name in Options.Undo of the function that takes the call back
	// where the operation ends in a client error; "": there is none.
	Undo string
	// Hold: where nobody knows whether the call was done, the operation is held for
	// an operator, not called again (`unknown: hold`).
	Hold bool
	// Lease is how long the operation belongs to one process before another may
	// continue it, extended while the call runs; 0: 30 s.
	Lease time.Duration
}

// CallFunc runs the function of a call step; emitted code makes one around each
// function of Options.Go. Key is the same for every attempt of this call, in every
// process, and for nothing else: the other system must do what it names once.
// Scan fills pointers to Go values, one per CallStep.In; what is returned are the
// values of CallStep.Out.
//
// An *Error with a definite 4xx status (see Fail) says that the call was refused,
// and is the operation's answer. Any other error says that nobody knows whether it
// was done, unless NotDone marks it.
type CallFunc func(ctx context.Context, key string, scan func(into ...any) error) ([]any, error)

// UndoFunc takes back a call that was done: scan gives what the call was given,
// results what it returned. Its key is another than the call's, and as stable. It
// is called again until it returns nil.
type UndoFunc func(ctx context.Context, key string, scan, results func(into ...any) error) error

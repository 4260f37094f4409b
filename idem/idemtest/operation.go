package idemtest

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Operation is one operation, as Conformance sends it.
type Operation struct {
	Name   string
	Method string
	Path   string // a pattern; {name} are path parameters
	Body   string // JSON of a valid request body, "" for none
	Key    KeyRule
	Inputs []Input
	// Writes are the tables that the operation writes, as schema.table. Their
	// changed rows are its effects.
	Writes []string
	// Count counts effects in place of Writes: the number so far. Checks that
	// need a table to lock or to fail are skipped then, unless Writes is set.
	Count func(ctx context.Context, pool *pgxpool.Pool) (int64, error)
	// Intent: a business intent outlives the key, so that an expired request
	// meets it.
	Intent bool
	// Returns: what the intent protects is the answer, in place of a 409.
	Returns bool
	// Rejects: a duplicate of a running request is 409 at once.
	Rejects bool
	// Tombstone: the answer is not kept; a duplicate is 409 response-not-stored.
	Tombstone bool
	// Forces: X-Force-Retry runs the operation again.
	Forces bool
	// Sealed: the answer is kept, but not in a form that can be read.
	Sealed bool
	// Async: a request is answered with 202 and an event id, and done later by what
	// the kit's Handler runs in the background.
	Async bool
	// Calls: it calls other systems and commits in between, so what came before a
	// call stays where a later step refuses.
	Calls bool
	// Kept is how long records are kept.
	Kept Kept
}

// Kept is how long an operation's records are kept. 0 for a success or a client
// error: not known, and not checked. 0 for a server error: it is not recorded.
type Kept struct{ Success, ClientError, ServerError time.Duration }

// KeyRule says where an operation's key comes from.
type KeyRule int

// The origins of a key.
const (
	KeyRequired KeyRule = iota // the header, without which a request is refused
	KeyOptional                // the header; without one a request runs unprotected
	KeyDerived                 // other inputs; the header has no meaning
	KeyNone                    // none: nothing is recorded
)

// Input is one declared input of an operation. Its name has its origin in
// front: path.id, query.limit, header.X-Mode, body.customer.name. "body" alone
// is the whole document.
type Input struct {
	Name string
	Type InputType
	// Value is the example's value: text for paths, queries and headers. Body
	// members have theirs in Operation.Body.
	Value string
	// Other is another valid value: text, or JSON for body members. "": the
	// input is not changed.
	Other string
	// Fresh: each check needs a value that was not used before. Length bounds
	// it, in characters, where it is not 0.
	Fresh  bool
	Length int
	// Shape is a regular expression (of package regexp) that fresh texts match,
	// made of literals and character classes with fixed counts: PX-[0-9A-Z]{8}.
	// "": the example's value with a number behind it.
	Shape string
	// Unprinted: the input is not part of the fingerprint; a duplicate may have
	// another value.
	Unprinted bool
	// Keyed: the input is part of the key; with another value it is another
	// request.
	Keyed bool
}

// InputType is how the kit makes fresh values of an input.
type InputType int

// The types of inputs.
const (
	Text InputType = iota
	Number
	UUID
)

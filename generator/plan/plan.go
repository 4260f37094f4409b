// Package plan decides how each operation runs: its strategy, and the SQL of
// every statement, the very text that the service sends. Its rules are in
// docs/strategies.md.
package plan

import (
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// Strategy is how claim, business SQL and record share a transaction.
type Strategy string

// The strategies.
const (
	Direct   Strategy = "direct"   // no key: one statement, no claim (reads)
	Fused    Strategy = "fused"    // claim, write and record are one statement
	Verbatim Strategy = "verbatim" // one pipelined implicit transaction
	Stepped  Strategy = "stepped"  // several statements in a transaction
)

// Operation is an operation with its plan.
type Operation struct {
	Model      *model.Operation
	Strategy   Strategy
	Reason     string // why not a faster strategy, for reviewers; "" for fused and direct
	RoundTrips int    // of a first request, without those of Go code; a replay is 1 except stepped (2)
	Statements []Statement
	MayBeEmpty bool // the keyed statement can find no row: it takes the empty problem's body
}

// Statement is one section of the operation's .sql file.
type Statement struct {
	// Name is the section's name. One-statement operations: "keyed" (fused:
	// all of it; verbatim: the last of the pipeline), "unkeyed" (the same
	// without claim and record, for GET and for optional keys), verbatim also
	// "prior" and "claim", "forced" with force_retry=on. Stepped: "step.NAME". Intents: "existing" or
	// "existing.STEP". Session: "session".
	Name    string
	SQL     string // ends in ";\n"
	Args    []Arg  // $1 …
	Step    *model.Step
	Results Results
}

// Results says which columns a statement returns, in this order.
type Results struct {
	// Answer: replayed bool, status int2, headers text, body text,
	// fingerprint bytea. All sections keyed, prior and unkeyed have this form;
	// the others return the columns below.
	Answer bool
	// Row is the step's row as a JSON text, first if set.
	Row bool
	// JSON are single columns as JSON texts (of a response map).
	JSON []string
	// Requires and Statuses are booleans, as many as the step has rules.
	Requires, Statuses int
	// Headers is one text, a JSON object of response headers.
	Headers bool
	// Text are columns that later steps bind, as SQL texts.
	Text []string
	// Same (existing): one boolean, the request's inputs equal the row.
	Same bool
	// RowsAffected: no columns; the command tag counts.
	RowsAffected bool
}

// Arg is where $n of a statement comes from: a source of the model, or one of
// the runtime's own values.
type Arg struct {
	Source  model.Source
	Runtime RuntimeArg // "" if Source is set
	Label   string     // ArgEvent: which of the operation's events
	Type    model.Type // of the parameter
}

// RuntimeArg is a value that the runtime makes for each request.
type RuntimeArg string

// The runtime's own values.
const (
	ArgScope       RuntimeArg = "scope"       // text
	ArgDigest      RuntimeArg = "digest"      // bytea
	ArgKey         RuntimeArg = "key"         // text
	ArgFingerprint RuntimeArg = "fingerprint" // bytea
	ArgEmpty       RuntimeArg = "empty"       // text: the body of the @empty problem
	// ArgEmptyHeaders is a jsonb: the headers of the @empty problem.
	ArgEmptyHeaders RuntimeArg = "empty_headers"
	ArgLock         RuntimeArg = "lock"  // bigint: the advisory lock's number (reject)
	ArgEvent        RuntimeArg = "event" // text: the key of the event Label
	ArgTrace        RuntimeArg = "trace" // jsonb: the request's trace context, or NULL
)

// Plan plans every operation of a service. It reports what no strategy can do.
func Plan(svc *model.Service, diags *diag.List) []*Operation { return planAll(svc, diags) }

package idem

import "time"

// Name is an operation's name inside its service, as in `api.CreatePayment`.
type Name string

// Operation describes one endpoint: what it takes, how it runs and what it
// answers. Emitted code holds one per operation as data; New compiles it.
// An Operation is not changed after New, and is safe for concurrent use.
type Operation struct {
	Name     Name
	Method   string
	Path     string // chi pattern; {name} are path parameters
	Status   int    // of a success
	Strategy Strategy
	Key      Key
	Policy   Policy
	Fields   []Field // in the order of the emitted input: path, query, header, body, caller
	// BodyWhole: the one body field is the whole document.
	BodyWhole bool
	// SQL is the operation's .sql file: sections that begin with a line
	// "-- statement: NAME".
	SQL   string
	Steps []Step // one for the strategies of one statement
	// Headers are the names of the response headers that it declares.
	Headers []string
	// Answer says how a stepped body is made; the others make it in SQL.
	Answer Answer
	// Async: a request is answered with 202 and an event id once it is written
	// down, and Run's completer does the steps, under the same key. Status, Headers
	// and Answer are those of the recorded response. The strategy is Stepped.
	Async bool
	// Webhook: the operation receives deliveries of another system.
	Webhook Webhook
	// Consumer: the operation takes messages of a broker. Method and Path are no route
	// then.
	Consumer Consumer
	// Tool: agents can call the operation. One that is a tool alone has no Method
	// and no Path.
	Tool ToolSpec
}

// Strategy is how claim, business SQL and record share one transaction.
type Strategy string

// The strategies; docs/strategies.md.
const (
	Direct   Strategy = "direct"   // no claim: one statement, section "unkeyed"
	Fused    Strategy = "fused"    // one statement, section "keyed"
	Verbatim Strategy = "verbatim" // one pipelined transaction, sections "prior", "claim", "keyed"
	Stepped  Strategy = "stepped"  // a transaction, sections "step.NAME"
)

// Key says where the key of an operation comes from.
type Key struct {
	From     KeyFrom
	Required bool   // KeyHeader: a request without one is refused
	Arg      Arg    // KeySource
	Prefix   []Part // literal text and path parameters, hashed with the key
}

// KeyFrom is the origin of a key.
type KeyFrom string

// The origins of a key.
const (
	KeyNone   KeyFrom = ""
	KeyHeader KeyFrom = "header"
	KeyIntent KeyFrom = "intent" // derived from the intent's inputs
	KeySource KeyFrom = "source"
	// KeyDelivery is "webhook-SYSTEM-" and the delivery's id.
	KeyDelivery KeyFrom = "delivery"
	// KeyMessage is the message's id, or a hash of it where it can't be a key.
	KeyMessage KeyFrom = "message"
)

// Part is a piece of a template: literal text, or the field Name.
type Part struct{ Text, Name string }

// Policy is an operation's policy, every default applied.
type Policy struct {
	Success     time.Duration // how long a success is replayed
	ClientError time.Duration
	ServerError time.Duration // 0: never recorded
	Wait        time.Duration // how long a duplicate waits for a running twin; 0: not at all
	Timeout     time.Duration
	MaxBody     int64 // bytes of a request
	// Print lists the fields of the fingerprint by name; nil: all, empty: none.
	Print     []string
	Isolation Isolation
	// Tombstone: bodies are not stored (record=none).
	Tombstone bool
	// Sealed: bodies are encrypted by Options.Seal before they are stored
	// (record=sealed). The strategy is Stepped.
	Sealed bool
	// Force: X-Force-Retry may run the operation again (force_retry=on).
	Force bool
}

// Isolation is a transaction's isolation level; the zero value is READ COMMITTED.
type Isolation string

// The isolation levels.
const (
	ReadCommitted  Isolation = ""
	RepeatableRead Isolation = "repeatable read"
	Serializable   Isolation = "serializable"
)

// Step is one statement of the business SQL, and what its rows mean; or one
// function of Go; or one call of another system.
type Step struct {
	Name     string
	Section  string // of the .sql file, where the strategy does not fix it
	Args     []Arg  // $1 … of the section
	Unkeyed  []Arg  // $1 … of the section "unkeyed", where there is one
	Claim    []Arg  // verbatim: of the section "claim"
	Prior    []Arg  // verbatim: of the section "prior"
	Forced   []Arg  // of the section "forced", where Policy.Force asks for one
	Each     int    // 1 + the index of the list field that runs it per element; 0: once
	Many     bool   // all rows count, not only the first
	Exec     bool   // no rows: the command tag counts
	Results  Results
	Empty    Empty
	Requires []Problem // one per boolean, in order
	// RequireNames are the columns of Requires: what idem.refuse names, where
	// one statement is the whole operation.
	RequireNames []string
	Statuses     []int
	Errors       []ErrorRule
	Intent       *Intent
	// Writes are tables that the statement writes, schema-qualified: what an
	// undeclared constraint violation is judged by.
	Writes []string
	// Insert, Delete: the statement's verb, which decides what a foreign key
	// violation means.
	Insert, Delete bool
	// Go: a function in place of a statement; Args are what it takes.
	Go *GoStep
	// Call: a function that calls another system, between two transactions; Args
	// are what it takes.
	Call *CallStep
}

// Results are the columns that a stepped statement returns, in this order.
type Results struct {
	Row      bool // the row as JSON text
	JSON     int  // single columns as JSON texts
	Requires int  // booleans
	Statuses int  // booleans
	Headers  bool // a JSON object as text
	Text     int  // columns for later steps, as text
}

// Empty says what no row means. The zero value: nothing (it can't happen).
type Empty struct {
	Fine    int // a 2xx or 304 status that is the answer, or -1: go on
	Problem *Problem
}

// ErrorRule is the declared answer to a constraint or SQLSTATE.
type ErrorRule struct {
	Constraint string
	SQLState   string
	Problem    Problem
}

// Intent is the business intent of a step.
type Intent struct {
	Constraint string // the unique constraint or index
	Table      string
	Return     bool // the existing resource is the answer, if the inputs equal its row
	// Existing: section with the look-up of the existing row; "" if it may not
	// be shown. It returns the body as JSON text, headers as text and, where
	// Return is set, a boolean: the request's inputs equal the row.
	Existing string
	Args     []Arg
	// Key are the inputs that name the intent, for `@key intent`.
	Key []Arg
}

// Answer says how a stepped response body is composed.
type Answer struct {
	// Kind: "" none, "step" all of a step, "column" one column, "object".
	Kind    string
	Step    int    // index into Operation.Steps
	Column  int    // index of the step's JSON results
	One     string // wrapper member of a single row, "" for none
	Many    string // member that holds rows
	Members []Member
}

// Member is one member of an object answer.
type Member struct {
	Name  string
	Value Answer
}

// Arg is where a statement's parameter comes from.
type Arg struct {
	From ArgFrom
	// Field is the index of an input (ArgField, ArgHas), Item the index of a
	// list element's field (ArgItem), Step and Column the place of an earlier
	// step's text result (ArgStep).
	Field, Item, Step, Column int
	Text                      string // ArgLiteral, ArgEvent
	Kind                      Kind   // of the parameter
	Array                     bool
}

// ArgFrom tells the origins of a parameter apart.
type ArgFrom uint8

// The origins of a parameter.
const (
	ArgField ArgFrom = iota
	ArgHas
	ArgItem
	ArgStep
	ArgLiteral
	ArgNow
	ArgUUID4
	ArgUUID7
	ArgScope
	ArgKey         // the key's value
	ArgDigest      // bytea: first 16 bytes of SHA-256 over length-prefixed operation and key
	ArgFingerprint // bytea
	ArgEmpty       // text: the body of the @empty problem
	ArgLock        // bigint: the advisory lock's number
	// ArgEmptyHeaders is a jsonb: the headers that are kept with ArgEmpty.
	ArgEmptyHeaders
	ArgEvent // text: the key of the event that Text names among the operation's
	ArgTrace // jsonb: the trace context of the request, or NULL
)

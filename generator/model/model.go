// Package model is the resolved form of a service: every name looked up, every
// type known, every default applied. It is what check makes, and all that plan
// and render read. It imports only the standard library and diag.
package model

import (
	"time"

	"github.com/idemgen/idemgen/generator/diag"
)

// Service is one idemgen.yaml, resolved.
type Service struct {
	Name          string // first part of every operation's stored name
	Package       string // Go package name of the emitted code
	ModulePath    string // the user's module, for import paths
	Profile       string // ietf | stripe | gateway
	ScopeSource   Source // SourceInput with an input FromCaller, or SourceNone for `scope: none`
	Caller        []CallerField
	Session       []SessionVar
	JSON          JSONStyle
	UnknownFields bool         // true: unknown members and query parameters are ignored
	Operations    []*Operation // by name
	Intents       []*Intent    // every intent of every operation, once each, by table and columns
}

// JSONStyle is the `json:` section.
type JSONStyle struct {
	Case         string // snake | camel
	BigintString bool
	One          string // member that wraps a single row; "" for none
	Many         string // member that holds the rows of a :many
}

// CallerField is one caller.NAME in use: a field of the emitted Caller.
type CallerField struct {
	Name   string // tenant_id
	GoName string // TenantID
	Type   Type
}

// SessionVar is a set_config(Name, source, true) before the SQL.
type SessionVar struct {
	Name   string
	Source Source
}

// Operation is one generated endpoint.
type Operation struct {
	Name        string // CreatePayment; stored as service.Name
	FileBase    string // create_payment
	Pos         diag.Pos
	Summary     string // first sentence of the description
	Description string
	Tags        []string
	Method      string
	Path        string // chi pattern
	Status      int    // the success status
	Key         Key
	Policy      Policy
	Inputs      []*Input // path, query, header, body, caller; in that order, then by name
	BodyWhole   bool     // `body` alone is bound: the document is one value
	Steps       []*Step  // one for a single statement
	Spec        bool     // declared by an endpoint spec: always stepped, unless it has one plain query step
	Response    Response
	Headers     []Header
	Example     string    // JSON of a valid request body, "" if none was declared
	Ejected     bool      // its files are the user's own
	Async       bool      // answered by 202 and an event id; the steps run in the background
	Webhook     *Webhook  // nil: clients send requests
	Tool        *Tool     // nil: agents can't call it
	Consumer    *Consumer // nil: no messages come; else Method is ConsumeMethod and Path the topic
}

// Delivered reports whether another system or a broker delivers what the operation
// takes: its sender is no caller, and delivers again what is not acknowledged.
func (o *Operation) Delivered() bool { return o.Webhook != nil || o.Consumer != nil }

// ConsumeMethod stands for the method of operations that no HTTP request reaches.
const ConsumeMethod = "CONSUME"

// Consumer says that an operation takes a broker's messages.
type Consumer struct {
	Topic string
	Types []string // none: all that no other operation takes
}

// Webhook says that an operation receives another system's deliveries.
type Webhook struct {
	System string
	Types  []string // none: all that no other operation takes
}

// Key says where an operation's key comes from.
type Key struct {
	From     string // header | intent | none | source | delivery
	Required bool   // header only: a request without one is 400
	Source   Source // From == source
	Prefix   []Part // literal text and path parameters
}

// Protects reports whether requests can have a key at all: without one nothing
// is claimed, recorded or replayed.
func (k Key) Protects() bool { return k.From != "" && k.From != "none" }

// Part is a piece of a template: literal text, or the name of a path
// parameter or column.
type Part struct {
	Text string
	Name string
}

// Policy is an operation's policy with every default applied.
type Policy struct {
	Success     time.Duration
	ClientError time.Duration
	ServerError time.Duration // 0: never stored
	Wait        time.Duration // 0: reject
	Timeout     time.Duration
	MaxBody     int64
	Fingerprint []string // names of the inputs that count; nil means all when FingerprintNone is false
	NoPrint     bool     // fingerprint=none
	Isolation   string   // "read committed" | "repeatable read" | "serializable"
	RecordBody  bool     // false: record=none
	Sealed      bool     // record=sealed
	ForceRetry  bool     // force_retry=on
}

// InputFrom is the part of the request that an input comes from.
type InputFrom string

// Where inputs come from.
const (
	FromPath   InputFrom = "path"
	FromQuery  InputFrom = "query"
	FromHeader InputFrom = "header"
	FromBody   InputFrom = "body"
	FromCaller InputFrom = "caller"
)

// Input is one value that a request brings. A body input's name is its path
// of members, joined by dots.
type Input struct {
	From     InputFrom
	Name     string // as clients write it, in the service's case: order_id, customer.name
	GoName   string // field of the emitted input struct; dotted like Name: Customer.Name
	Type     Type
	Required bool
	Nullable bool    // null is a value
	Default  *string // canonical text
	HasAsked bool    // has(body.NAME) is a source: null and absent differ
	Pos      diag.Pos
}

// Source is where an argument comes from.
type Source struct {
	Kind    SourceKind
	Input   *Input // SourceInput, SourceHas: the input; SourceItem: the list
	Member  string // SourceItem: the member of the list's element
	Literal string // SourceLiteral
	Step    string // SourceStep: the step's name
	Column  string // SourceStep: the column's name
}

// SourceKind tells the sources apart.
type SourceKind string

// The sources of an argument.
const (
	SourceInput   SourceKind = "input"
	SourceHas     SourceKind = "has"
	SourceScope   SourceKind = "scope"
	SourceKey     SourceKind = "key"
	SourceNow     SourceKind = "now"
	SourceUUID4   SourceKind = "uuid4"
	SourceUUID7   SourceKind = "uuid7"
	SourceLiteral SourceKind = "literal"
	SourceStep    SourceKind = "step"
	SourceItem    SourceKind = "item"
	SourceNone    SourceKind = "none"
)

// Step is one statement of an operation, or one Go function.
type Step struct {
	Name     string // the query's name, or `as`
	Pos      diag.Pos
	Query    *Query
	Args     []Source // one per $n, in order
	Each     *Input   // the list whose elements each run the statement; nil for one run
	Requires []Require
	Statuses []StatusRule
	Empty    Empty
	Errors   []ErrorRule
	Omit     []string // columns hidden in responses (requires, statuses and conditions of events are hidden too)
	Events   []Event
	Intent   *Intent // of this statement, nil if none
	OnIntent string  // conflict | return
	// Go: a Go function in place of a statement. Query then has what it takes as
	// Params and what it returns as Columns, and no SQL.
	Go *GoStep
}

// GoStep is the function of a Go step.
type GoStep struct {
	Func       string    // the field of the emitted Funcs
	Whole      bool      // it takes the operation's own input
	Package    GoPackage // whose Queries it gets
	DBArgument bool      // the methods of Queries take the transaction (sqlc's emit_methods_with_db_argument)
	// Call: the function calls another system between two transactions, and gets no
	// Queries; nil for a function inside the transaction.
	Call *Call
}

// Call is what a `call:` step says of its function.
type Call struct {
	Undo    string        // the field of Funcs that takes the call back, "" for none
	UndoPos diag.Pos      // where it stands
	Hold    bool          // an unknown outcome waits for an operator
	Lease   time.Duration // 0: the runtime's default
}

// Calls counts the steps that call another system.
func (op *Operation) Calls() int {
	n := 0
	for _, s := range op.Steps {
		if s.IsCall() {
			n++
		}
	}
	return n
}

// Durable reports whether the operation commits in between or later: it has calls,
// or is async.
func (op *Operation) Durable() bool { return op.Async || op.Calls() > 0 }

// IsCall reports whether the step calls another system.
func (s *Step) IsCall() bool { return s.Go != nil && s.Go.Call != nil }

// Event is @outbox: each row of the step writes one.
type Event struct {
	Topic string
	// Label tells the events of an operation apart; the key of each is made of it.
	Label   string
	Key     string   // the column of the ordering key, "" for none
	If      string   // the boolean column that says whether there is an event, "" for always
	Columns []string // of the payload; nil: those that the response shows
	Pos     diag.Pos
}

// Require is @require.
type Require struct {
	Column  string
	Problem Problem
}

// StatusRule is @status.
type StatusRule struct {
	Column string
	Status int
}

// Empty is @empty: what no row means.
type Empty struct {
	Fine    bool // a 2xx or 304: Status is the answer (for a step that isn't the response: go on)
	Status  int
	Problem Problem // if not Fine
}

// ErrorRule is @error: a constraint's name or a SQLSTATE, and its answer; of a Go
// step also, without either, an answer that the function itself returns.
type ErrorRule struct {
	Constraint string
	SQLState   string
	Problem    Problem
	Declared   bool // by @error; false for the default of a CHECK
}

// Problem is a declared client error.
type Problem struct {
	Status int
	Code   string
	Title  string
}

// Header is @header.
type Header struct {
	Name  string
	Parts []Part // Name: a column of Step
	Step  string // the step whose row fills it
	URL   bool   // values are percent-encoded
}

// Response says what the body is made of.
type Response struct {
	Kind    ResponseKind
	Step    string           // ResponseStep, ResponseColumn
	Column  string           // ResponseColumn
	Members []ResponseMember // ResponseObject, in the order written
}

// ResponseKind tells the forms of a response apart.
type ResponseKind string

// The forms of a response.
const (
	ResponseNone   ResponseKind = "none"
	ResponseStep   ResponseKind = "step"   // the rows of a step, as its command says
	ResponseColumn ResponseKind = "column" // one column's value
	ResponseObject ResponseKind = "object"
)

// ResponseMember is one member of an object.
type ResponseMember struct {
	Name  string
	Value Response
}

// Intent is a business intent: at most one row of Table per Columns.
type Intent struct {
	Table       TableName
	Columns     []string
	Where       string // the condition of a partial index, "" for none
	Index       string // the constraint or index that holds it; the name to make if Missing
	Missing     bool   // a migration must add it
	Partitioned bool
	// ScopeIn: the row that is there may be shown. Columns include the one that
	// the scope is bound to, and a parameter feeds each of them.
	ScopeIn bool
	Pos     diag.Pos
}

// TableName is a table with its schema; Schema is "" where the SQL names none.
type TableName struct{ Schema, Name string }

func (t TableName) String() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

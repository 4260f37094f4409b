// Package spec reads what developers declare: annotations in the comments of
// sqlc queries and endpoint specs in YAML. Both share one grammar; a word's
// arguments are parsed by the same function whichever way they were written.
// It knows nothing of tables or types: names are resolved by check.
package spec

import (
	"time"

	"github.com/idemgen/idemgen/generator/diag"
)

// Declarations are the words that stand on one query, or on one endpoint or
// step of a spec. A nil or empty field means that the word is absent.
type Declarations struct {
	// Statement words.
	Binds    []Bind
	Intent   *Intent
	Requires []Require
	Statuses []Status
	Empty    *Empty
	Errors   []ErrorRule
	Omit     []Name
	Outbox   []Event

	// Operation words.
	HTTP      *HTTP
	Webhook   *Webhook // HTTP is the route that follows from it
	Consume   *Consume // HTTP stands for it, though no request comes over HTTP
	Tool      *Tool    // HTTP is a stand-in where the tool is the only way to the operation
	Operation *Name
	Tags      []Name
	Key       *Key
	Headers   []Header
	Policy    *Policy
	Example   *Text
	Async     *diag.Pos // where @async stands
}

// Name is an identifier with its place.
type Name struct {
	Value string
	Pos   diag.Pos
}

// Text is free text with its place.
type Text struct {
	Value string
	Pos   diag.Pos
}

// Source is a parsed source expression.
type Source struct {
	Kind SourceKind
	Path []string // body, path, query, header, caller, item: the names behind the first dot; step: step and column
	Text string   // literal
	Pos  diag.Pos
}

// SourceKind is the first word of a source.
type SourceKind string

// The sources of language.md, in their spelling.
const (
	SourceBody    SourceKind = "body"
	SourcePath    SourceKind = "path"
	SourceQuery   SourceKind = "query"
	SourceHeader  SourceKind = "header"
	SourceCaller  SourceKind = "caller"
	SourceScope   SourceKind = "scope"
	SourceKey     SourceKind = "key"
	SourceHas     SourceKind = "has" // Path: the body member
	SourceNow     SourceKind = "now"
	SourceUUID4   SourceKind = "uuid4"
	SourceUUID7   SourceKind = "uuid7"
	SourceLiteral SourceKind = "literal"
	SourceStep    SourceKind = "step" // STEP.COLUMN
	SourceItem    SourceKind = "item"
	SourceNone    SourceKind = "none" // `scope: none`
)

// Bind is @bind.
type Bind struct {
	Param   Name
	Source  Source
	Default *Text
	Min     *Text
	Max     *Text
}

// Intent is @intent: by constraint (Constraint set), or by table and columns.
type Intent struct {
	Pos        diag.Pos
	Constraint string
	Table      string // may be schema.table
	Columns    []Name
	Where      string
	WhereNames []Name // the columns that Where mentions, in order
	WhereFlags []Name // those of them that must be booleans
	OnConflict string // "" | conflict | return
}

// Problem is STATUS [CODE] ["title"].
type Problem struct {
	Pos    diag.Pos
	Status int
	Code   string
	Title  string
}

// Require is @require.
type Require struct {
	Column  Name
	Problem Problem
}

// Status is @status.
type Status struct {
	Column Name
	Status int
}

// Empty is @empty; a Problem of status 2xx or 304 without code means "fine".
type Empty struct{ Problem Problem }

// ErrorRule is @error.
type ErrorRule struct {
	Name    Name // a constraint, or five characters of SQLSTATE
	Problem Problem
}

// Event is @outbox.
type Event struct {
	Topic   Name
	Key     *Name  // the column of the ordering key
	If      *Name  // the boolean column that says whether there is an event
	Columns []Name // of the payload; nil: those of the response
}

// HTTP is @http.
type HTTP struct {
	Pos       diag.Pos
	Method    string
	Path      string
	PathPos   diag.Pos
	Status    int // 0: the default
	StatusPos diag.Pos
}

// Key is @key.
type Key struct {
	Pos      diag.Pos
	From     string // header | intent | none | source
	Required *bool  // header: nil where the word says neither
	Source   Source
	Prefix   string
}

// Header is @header.
type Header struct {
	Pos      diag.Pos
	Name     string
	Template string
}

// Policy is @policy, and defaults:. A nil field is not set.
type Policy struct {
	Pos         diag.Pos
	Success     *time.Duration
	ClientError *time.Duration
	ServerError *time.Duration
	Inflight    *Inflight
	Fingerprint *Fingerprint
	Isolation   *string // "read committed", "repeatable read", "serializable"
	Timeout     *time.Duration
	MaxBody     *int64
	Record      *string // full | none
	ForceRetry  *bool
	// At is where each key stands, by its spelling.
	At map[string]diag.Pos
}

// Inflight is wait:DURATION or reject.
type Inflight struct{ Wait time.Duration } // 0: reject

// Fingerprint is all, none, only(…) or except(…).
type Fingerprint struct {
	Mode  string // all | none | only | except
	Names []Name
}

// QueryDecl is one query of a sqlc query file: its head and its words.
type QueryDecl struct {
	Name        string
	Command     string // with the colon, as written
	File        string
	Pos         diag.Pos // of "-- name:"
	SQL         SQL      // where its SQL stands, for positions inside it
	Description string
	Decl        Declarations
	Annotated   bool // has at least one word of ours
}

// SQL is the SQL text of a query as it stands in the file.
type SQL struct {
	Text string
	Line int // of the text's first byte
}

// Endpoint is one entry of `endpoints:`.
type Endpoint struct {
	Name     Name
	Doc      string
	Decl     Declarations
	Steps    []Step
	Response *Response
}

// Step is one `query:`, `go:` or `call:` step.
type Step struct {
	Pos   diag.Pos
	Query Name    // may be package.Query; empty where Go is set
	Go    *GoCall // of `go:` and `call:`; nil for a query
	As    *Name
	Each  *Source
	Binds []Bind
	Decl  Declarations // statement words written on the step
}

// Response is the `response:` key.
type Response struct {
	Pos     diag.Pos
	Ref     []string // STEP or STEP.COLUMN; nil for a map
	Members []ResponseMember
}

// ResponseMember is one member of a response map, in the order written.
type ResponseMember struct {
	Name  Name
	Value Response
}

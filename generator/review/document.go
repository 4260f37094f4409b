// Package review says what a reviewer of a pull request must know about a
// service: routes, keys, locks in their order, answers, times. It renders
// REVIEW.md and REVIEW.json beside the emitted code, and compares two states of
// a service ([Compare]), one read from a git revision, to say what changed and
// what of it is risky. It is a pure function of what it is given.
package review

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/generator/diag"
)

// The names of the emitted files, beside the code.
const (
	MarkdownFile = "REVIEW.md"
	JSONFile     = "REVIEW.json"
)

// version of the form of REVIEW.json; Parse refuses a newer one.
const version = 1

// Document is a service as a reviewer sees it. Its JSON form is REVIEW.json.
// SQL is not part of that: it is in the .sql files.
type Document struct {
	Version       int          `json:"version"`
	Service       string       `json:"service"`
	Profile       string       `json:"profile"`
	Scope         string       `json:"scope"`
	Session       []string     `json:"session,omitempty"`
	UnknownFields string       `json:"unknown_fields"` // refused | ignored
	JSON          string       `json:"json"`           // the `json:` section in words
	Operations    []*Operation `json:"operations"`     // by name
	Tables        []Table      `json:"tables"`         // that operations touch, by name

	// Migrations are in their order. They are not part of the JSON form, which no
	// migration about something else may change: git tells which are new.
	Migrations []Migration `json:"-"`
}

// Operation is one endpoint.
type Operation struct {
	Name        string      `json:"name"`
	Stored      string      `json:"stored"` // the name that records have: part of every key
	Summary     string      `json:"summary,omitempty"`
	Method      string      `json:"method"`
	Path        string      `json:"path"`
	Status      int         `json:"status"`
	Key         Key         `json:"key"`
	Strategy    string      `json:"strategy"`
	Reason      string      `json:"reason,omitempty"` // why not a faster one
	RoundTrips  int         `json:"round_trips"`      // of a first request, Go functions apart
	Replay      int         `json:"replay_round_trips,omitempty"`
	Policy      Policy      `json:"policy"`
	Fingerprint Fingerprint `json:"fingerprint"`
	Inputs      []Input     `json:"inputs,omitempty"`
	Response    []Member    `json:"response,omitempty"`
	Headers     []string    `json:"headers,omitempty"`
	Answers     []Answer    `json:"answers"`
	Intents     []Intent    `json:"intents,omitempty"`
	Async       bool        `json:"async,omitempty"` // answered 202, and done later
	Webhook     *Webhook    `json:"webhook,omitempty"`
	Events      []Event     `json:"events,omitempty"`
	Steps       []Step      `json:"steps"`
	Locks       []Lock      `json:"locks,omitempty"` // in the order in which they are taken
	Reads       []string    `json:"reads,omitempty"`
	Writes      []string    `json:"writes,omitempty"`
	SQLFile     string      `json:"sql"` // beside REVIEW.json

	Sections []Section `json:"-"` // the statements; none in a document that was parsed
	Pos      diag.Pos  `json:"-"` // where it is declared
	SQL      string    `json:"-"` // all of the .sql file
	diagram  []event
}

// Key says where an operation's key comes from.
type Key struct {
	From     string `json:"from"` // header | intent | source | none
	Required bool   `json:"required,omitempty"`
	Source   string `json:"source,omitempty"`
	Prefix   string `json:"prefix,omitempty"`
}

// Policy is an operation's policy. Times are as Go writes durations, "0s" for
// none.
type Policy struct {
	Success     string `json:"success"`
	ClientError string `json:"client_error"`
	ServerError string `json:"server_error"`
	Wait        string `json:"wait"` // "0s": reject
	Timeout     string `json:"timeout"`
	MaxBody     int64  `json:"max_body"` // bytes
	Isolation   string `json:"isolation"`
	Record      string `json:"record"` // body | none | sealed
	ForceRetry  bool   `json:"force_retry,omitempty"`
}

// Fingerprint says which inputs a second request with the key must share.
type Fingerprint struct {
	Mode    string   `json:"mode"` // all | some | none
	Members []string `json:"members,omitempty"`
}

// Input is a value that a request brings.
type Input struct {
	Name     string   `json:"name"` // body.order_id
	Type     string   `json:"type"`
	Required bool     `json:"required,omitempty"`
	Nullable bool     `json:"nullable,omitempty"`
	Default  string   `json:"default,omitempty"`
	Checks   []string `json:"checks,omitempty"`
}

// Member is a member of the response, its path joined by dots; [] marks a list.
type Member struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Answer is a status that the operation gives.
type Answer struct {
	Status int    `json:"status"`
	Code   string `json:"code,omitempty"`
	Title  string `json:"title,omitempty"`
	From   string `json:"from"`           // what leads to it
	Kept   string `json:"kept,omitempty"` // how long it is recorded; "" for not at all
}

// Intent is a business intent.
type Intent struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Where   string   `json:"where,omitempty"`
	Index   string   `json:"index"`
	On      string   `json:"on"` // conflict | return
}

// Step is one statement, or one Go function.
type Step struct {
	Name     string `json:"name"`
	Does     string `json:"does"` // insert payments, Go function Refund
	Function string `json:"function,omitempty"`
	Each     string `json:"each,omitempty"` // the list whose elements each run it
	Call     *Call  `json:"call,omitempty"` // the function calls another system
}

// Lock is a lock that an operation takes or waits for.
type Lock struct {
	Kind   string `json:"kind"`   // advisory | rows | unique
	Object string `json:"object"` // payments, payments_pkey of payments (id)
	Mode   string `json:"mode,omitempty"`
	Rows   string `json:"rows,omitempty"` // one | in the order of … | in no set order
	Step   string `json:"step,omitempty"` // the statement's
	Why    string `json:"why,omitempty"`
}

// Table is a table that operations touch, with what holds for its rows.
type Table struct {
	Name        string   `json:"name"`
	Constraints []string `json:"constraints,omitempty"`
	Notes       []string `json:"notes,omitempty"` // triggers, rules, row security
}

// Migration is one file of the schema.
type Migration struct {
	File    string
	Text    string
	Goose   bool     // goose applies it, once; else it is read as a whole each time
	Creates []string // tables
	Indexes []Index
}

// Index is an index that a migration builds.
type Index struct {
	Name         string // "" where PostgreSQL chooses it
	Table        string
	Unique       bool
	Concurrently bool
	Constraint   bool // made by a constraint
}

// Section is one statement, the very text that is sent.
type Section struct {
	Name, Note, SQL string
}

// ErrVersion is returned by Parse for a REVIEW.json of a newer idemgen.
var ErrVersion = errors.New("REVIEW.json is of a newer idemgen")

// Parse reads a REVIEW.json.
func Parse(text []byte) (*Document, error) {
	doc := &Document{}
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", JSONFile, err)
	}
	switch {
	case doc.Version > version:
		return nil, ErrVersion
	case doc.Version < 1 || doc.Service == "":
		return nil, fmt.Errorf("%s is no review of a service", JSONFile)
	}
	return doc, nil
}

// find is the operation of that name, nil if there is none.
func (d *Document) find(name string) *Operation {
	for _, op := range d.Operations {
		if op.Name == name {
			return op
		}
	}
	return nil
}

// functions are the Go functions that run inside the transaction.
func (op *Operation) functions() []string {
	var out []string
	for _, s := range op.Steps {
		if s.Function != "" && s.Call == nil {
			out = append(out, s.Function)
		}
	}
	return out
}

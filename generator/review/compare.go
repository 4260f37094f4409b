package review

import (
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/idemgen/idemgen/generator/diag"
)

// Report is what changed between two states of a service.
type Report struct {
	Service  string    `json:"service"`
	Base     string    `json:"base"`            // the revision, as the user named it
	Commit   string    `json:"commit"`          // what it stands for
	First    bool      `json:"first,omitempty"` // the base has no idemgen
	Moved    string    `json:"moved,omitempty"` // where the base has its review, if elsewhere
	Findings []Finding `json:"findings"`        // risks first, then in the order of operations
	Changes  []Change  `json:"changes"`

	Now *Document `json:"-"`
}

// Finding is one thing to look at.
type Finding struct {
	Rule      string   `json:"rule"`
	Severity  Severity `json:"severity"`
	Operation string   `json:"operation,omitempty"` // "" for the service
	Message   string   `json:"message"`
	Means     string   `json:"means"`
	Way       string   `json:"way"`
	Pos       diag.Pos `json:"-"` // of the operation, or of the migration
}

// Change is an operation that is not what it was.
type Change struct {
	Operation string  `json:"operation"`
	Kind      string  `json:"kind"` // added | removed | renamed | changed
	Was       string  `json:"was,omitempty"`
	Fields    []Field `json:"fields,omitempty"`
	Diff      string  `json:"diff,omitempty"` // of the .sql file

	Now *Operation `json:"-"` // nil if removed
}

// Field is one line of a change. Before is "" for what is new, After for what
// is gone.
type Field struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Risky reports whether somebody must decide.
func (r *Report) Risky() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Risk })
}

// Compare says what changed from one document to another. Was is nil where
// there was none: all is new.
func Compare(was, now *Document) *Report {
	c := &comparison{report: &Report{Service: now.Service, Findings: []Finding{}, Changes: []Change{}, Now: now}}
	if was == nil {
		c.report.First = true
		was = &Document{Service: now.Service, Profile: now.Profile, Scope: now.Scope, Session: now.Session, UnknownFields: now.UnknownFields, JSON: now.JSON}
	}
	c.service(was, now)
	c.operations(was, now)
	c.webhooks(was, now)
	if !c.report.First {
		c.migrations(was, now)
		c.tables(was, now)
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int { return rank(a.Severity) - rank(b.Severity) })
	return c.report
}

func rank(s Severity) int {
	if s == Risk {
		return 0
	}
	return 1
}

// comparison collects findings. Op and pos are of the operation at hand.
type comparison struct {
	report *Report
	op     string
	pos    diag.Pos
	built  []string // the indexes of new migrations
}

func (c *comparison) find(id, format string, v ...any) {
	r := ruleOf(id)
	c.report.Findings = append(c.report.Findings, Finding{
		Rule: id, Severity: r.Severity, Operation: c.op, Message: fmt.Sprintf(format, v...), Means: r.Means, Way: r.Way, Pos: c.pos,
	})
}

// operations pairs those of both sides by name; what is left, by route.
func (c *comparison) operations(was, now *Document) {
	renamed := map[string]*Operation{} // by the new name
	for _, old := range was.Operations {
		if now.find(old.Name) != nil {
			continue
		}
		i := slices.IndexFunc(now.Operations, func(op *Operation) bool {
			return op.Method == old.Method && op.Path == old.Path && was.find(op.Name) == nil
		})
		if i >= 0 {
			renamed[now.Operations[i].Name] = old
			continue
		}
		c.op, c.pos = old.Name, diag.Pos{}
		c.find("operation-removed", "%s %s is gone", old.Method, old.Path)
		c.change(Change{Operation: old.Name, Kind: "removed"})
	}
	for _, op := range now.Operations {
		c.op, c.pos = op.Name, op.Pos
		switch old := was.find(op.Name); {
		case old != nil:
			c.pair(old, op, Change{Operation: op.Name, Kind: "changed", Now: op})
		case renamed[op.Name] != nil:
			old = renamed[op.Name]
			if old.Key.From != "none" { // a read has no record to lose
				c.find("operation-renamed", "%s is now %s", old.Stored, op.Stored)
			}
			c.pair(old, op, Change{Operation: op.Name, Kind: "renamed", Was: old.Name, Now: op})
		default:
			c.find("operation-added", "%s %s, %s, key: %s", op.Method, op.Path, op.Strategy, op.keyWord())
			c.change(Change{Operation: op.Name, Kind: "added", Now: op})
		}
	}
	c.op, c.pos = "", diag.Pos{}
}

func (c *comparison) change(ch Change) { c.report.Changes = append(c.report.Changes, ch) }

// pair compares two states of one operation.
func (c *comparison) pair(was, now *Operation, ch Change) {
	c.key(was, now)
	c.intents(was, now)
	c.fingerprint(was, now)
	c.cost(was, now)
	c.lockList(was, now)
	c.policy(was, now)
	c.route(was, now)
	c.answerList(was, now)
	c.inputs(was, now)
	c.response(was, now)
	c.outside(was, now)
	ch.Fields = fields(was, now)
	if was.SQL != "" && now.SQL != "" && was.SQL != now.SQL {
		ch.Diff = string(diff.Diff("a/"+was.SQLFile, []byte(was.SQL), "b/"+now.SQLFile, []byte(now.SQL)))
	}
	if ch.Kind == "renamed" || len(ch.Fields) > 0 || ch.Diff != "" {
		c.change(ch)
	}
}

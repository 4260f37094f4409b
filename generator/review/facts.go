package review

import (
	"fmt"
	"strconv"
	"strings"
)

// fact is a line about an operation: REVIEW.md and the page show the same.
type fact struct {
	Name, Value string
	Code        bool // the value is code
}

// The facts of which an operation may have several.
const (
	factIntent = "Intent"
	factWrites = "Writes"
)

// facts describe an operation. Of a nil document only what is the operation's own
// is told: the scope and the tables' constraints are left out.
func (op *Operation) facts(d *Document) []fact {
	out := []fact{
		{"Route", op.Method + " " + op.Path, true},
		{"Key", op.keyText(), false},
	}
	if op.Key.From != "none" {
		if d != nil {
			out = append(out, fact{"Scope", d.Scope, true})
		}
		out = append(out, fact{"Stored as", op.Stored, true})
	}
	out = append(out, fact{"Strategy", op.strategyText(), false}, fact{"Round trips", op.tripsText(), false})
	if op.Key.From != "none" {
		out = append(out, fact{"Kept", op.keptText(), false}, fact{"A copy that runs", op.waitText(), false},
			fact{"Fingerprint", op.printText(), false})
	}
	if iso := op.Policy.Isolation; iso != "read committed" {
		out = append(out, fact{"Isolation", iso, false})
	}
	out = append(out, fact{"Limits", fmt.Sprintf("%s, body of %s", op.Policy.Timeout, sizeText(op.Policy.MaxBody)), false})
	out = append(out, op.outsideFacts()...)
	for _, in := range op.Intents {
		out = append(out, fact{factIntent, in.text(), true})
	}
	for _, name := range op.Writes {
		out = append(out, fact{factWrites, d.withConstraints(name), true})
	}
	if reads := missing(op.Reads, op.Writes); len(reads) > 0 {
		out = append(out, fact{"Reads", strings.Join(reads, ", "), true})
	}
	if len(op.Headers) > 0 {
		out = append(out, fact{"Response headers", strings.Join(op.Headers, ", "), true})
	}
	return out
}

// withConstraints is a table with the names of what holds for its rows; what
// each says is in the list of tables.
func (d *Document) withConstraints(table string) string {
	if d == nil {
		return table
	}
	var names []string
	for _, t := range d.Tables {
		if t.Name != table {
			continue
		}
		for _, c := range t.Constraints {
			name, _, _ := strings.Cut(c, ": ")
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return table
	}
	return table + ": " + strings.Join(names, ", ")
}

func (op *Operation) keyText() string {
	text := ""
	switch op.Key.From {
	case "none":
		return "none: nothing is claimed, recorded or replayed"
	case "header":
		text = "of the client, optional: without one the request runs unprotected"
		if op.Key.Required {
			text = "of the client, required"
		}
	case "intent":
		text = "made of the intent's columns"
	case "delivery":
		text = "the id of the delivery"
	case "message":
		text = "the id of the message"
	default:
		text = "from " + op.Key.Source
	}
	if op.Key.Prefix != "" {
		text += ", behind " + op.Key.Prefix
	}
	return text
}

func (op *Operation) strategyText() string {
	if op.Reason == "" {
		return op.Strategy
	}
	return op.Strategy + ", because: " + op.Reason
}

func (op *Operation) tripsText() string {
	text := strconv.Itoa(op.RoundTrips)
	if len(op.functions())+len(op.calls()) > 0 {
		text += " and those of the Go code"
	}
	if op.Replay > 0 && op.Key.From != "none" {
		text += ", a replay " + strconv.Itoa(op.Replay)
	}
	return text
}

func (op *Operation) keptText() string {
	p := op.Policy
	text := "success " + p.Success + ", client error " + p.ClientError + ", server error "
	if p.ServerError == "0s" {
		text += "never"
	} else {
		text += p.ServerError
	}
	switch p.Record {
	case "none":
		text += "; the body is not kept"
	case "sealed":
		text += "; sealed"
	}
	if p.ForceRetry {
		text += "; a client may force another run"
	}
	return text
}

func (op *Operation) waitText() string {
	if op.Policy.Wait == "0s" {
		return "is refused at once"
	}
	return "is waited for, up to " + op.Policy.Wait
}

func (op *Operation) printText() string {
	switch op.Fingerprint.Mode {
	case "none":
		return "none: another request with the same key gets the recorded answer"
	case "all":
		return "all inputs: " + strings.Join(op.Fingerprint.Members, ", ")
	}
	return strings.Join(op.Fingerprint.Members, ", ")
}

func (in Intent) text() string {
	text := in.Table + " (" + strings.Join(in.Columns, ", ") + ")"
	if in.Where != "" {
		text += " WHERE " + in.Where
	}
	return text + ", on " + in.On + ", held by " + in.Index
}

func sizeText(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// held says how long locks are held.
func (op *Operation) held() string {
	if op.Async && len(op.calls()) == 0 {
		return "the transaction of its steps, in the background"
	}
	trips := "one round trip"
	if op.Strategy == "stepped" {
		trips = fmt.Sprintf("%d round trips at the most", op.RoundTrips)
	}
	if f := op.functions(); len(f) > 0 {
		trips += " and while " + strings.Join(f, ", ") + " runs"
	}
	if n := len(op.calls()); n > 0 {
		trips += fmt.Sprintf(" together, in %d transactions: none while a call runs", n+1)
	}
	if op.Async {
		trips += ", in the background"
	}
	return trips
}

// text is a lock in one line.
func (l Lock) text() string {
	out := l.Object
	if l.Mode != "" {
		out += ", " + l.Mode
	}
	if l.Rows != "" {
		out += ", " + l.Rows
	}
	return out
}

func (in Input) rules() string {
	out := in.Type
	switch {
	case in.Required:
		out += ", required"
	case in.Default != "":
		out += ", default " + in.Default
	}
	if in.Nullable {
		out += ", may be null"
	}
	if len(in.Checks) > 0 {
		out += "; " + strings.Join(in.Checks, "; ")
	}
	return out
}

package review

import (
	"fmt"
	"strings"
)

// Title says in a line what the report found.
func (r *Report) Title() string {
	risks, notes := 0, 0
	for _, f := range r.Findings {
		if f.Severity == Risk {
			risks++
		} else {
			notes++
		}
	}
	found := "nothing risky"
	if risks > 0 {
		found = count(risks, "risk")
	}
	if notes > 0 {
		found += ", " + count(notes, "note")
	}
	return fmt.Sprintf("%s: %s; %s of %d changed", r.Service, found, count(len(r.Changes), "operation"), r.total())
}

// total counts the operations of both sides.
func (r *Report) total() int {
	n := len(r.Now.Operations)
	for _, c := range r.Changes {
		if c.Kind == "removed" {
			n++
		}
	}
	return n
}

// Since says what the report compares with.
func (r *Report) Since() string {
	text := "since " + r.Base
	if short := r.Commit; short != "" && short != r.Base {
		text += " (" + short[:min(len(short), shortHash)] + ")"
	}
	switch {
	case r.First:
		text += ", where there is no idemgen: all is new"
	case r.Moved != "":
		text += ", where it was " + r.Moved
	}
	return text
}

const shortHash = 12

// Text is the report for a terminal.
func (r *Report) Text() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n%s\n", r.Title(), r.Since())
	for _, f := range r.Findings {
		fmt.Fprintf(b, "\n%s[%s]: %s\n", f.Severity, f.Rule, f.About())
		fmt.Fprintf(b, "  %s\n  hint: %s\n", f.Means, f.Way)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(b, "\n%s %s\n", c.Kind, c.Operation)
		for _, f := range c.Fields {
			fmt.Fprintf(b, "  %s: %s\n", f.Name, f.arrow())
		}
		if c.Diff != "" {
			fmt.Fprintf(b, "  its SQL differs: %s\n", c.Now.SQLFile)
		}
	}
	return b.String()
}

// About is the message with its operation.
func (f Finding) About() string {
	if f.Operation == "" {
		return f.Message
	}
	return f.Operation + ": " + f.Message
}

// arrow is what was and what is, in one line.
func (f Field) arrow() string {
	switch {
	case f.Before == "":
		return "new: " + f.After
	case f.After == "":
		return "gone: " + f.Before
	}
	return f.After + " (was " + f.Before + ")"
}

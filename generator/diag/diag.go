// Package diag holds what idemgen has to say about its input: coded
// diagnostics with exact positions, in one form for every part of the
// generator. It imports only the standard library.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file. Line and Col are 1-based; Col counts bytes. Width
// is the number of bytes that the caret line marks, 0 for one. The zero Pos is
// "no place".
type Pos struct {
	File  string // as the user would write it: relative to the configuration file's folder, with slashes
	Line  int
	Col   int
	Width int
}

// IsZero reports whether p names no place.
func (p Pos) IsZero() bool { return p.File == "" && p.Line == 0 }

// String is file:line:col, as editors and CI systems understand it.
func (p Pos) String() string {
	switch {
	case p.IsZero():
		return ""
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Severity says whether a diagnostic stops the run.
type Severity string

// The severities. Only errors make a run fail.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one finding. Message is one plain sentence without a final
// period; Hint is the way out, empty only where there is none.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Pos      Pos
	Message  string
	Hint     string
}

// Error makes a Diagnostic usable as a Go error.
func (d Diagnostic) Error() string {
	var b strings.Builder
	if !d.Pos.IsZero() {
		b.WriteString(d.Pos.String())
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s[%s]: %s", d.Severity, d.Code, d.Message)
	return b.String()
}

// List collects diagnostics. Its zero value is ready to use. It is not safe
// for concurrent use.
type List struct{ items []Diagnostic }

// Errorf adds an error at pos. The hint is added with the returned value's
// Hint method.
func (l *List) Errorf(code Code, pos Pos, format string, args ...any) *Entry {
	return l.add(Diagnostic{Code: code, Severity: Error, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning at pos.
func (l *List) Warnf(code Code, pos Pos, format string, args ...any) *Entry {
	return l.add(Diagnostic{Code: code, Severity: Warning, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

func (l *List) add(d Diagnostic) *Entry {
	l.items = append(l.items, d)
	return &Entry{list: l, index: len(l.items) - 1}
}

// Add appends finished diagnostics.
func (l *List) Add(ds ...Diagnostic) { l.items = append(l.items, ds...) }

// Entry is a diagnostic just added, so that a hint can follow.
type Entry struct {
	list  *List
	index int
}

// Hint sets the way out.
func (e *Entry) Hint(format string, args ...any) {
	e.list.items[e.index].Hint = fmt.Sprintf(format, args...)
}

// HasErrors reports whether any entry is an error.
func (l *List) HasErrors() bool {
	return slices.ContainsFunc(l.items, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sorted returns the entries by file, line, column and code, without repeats.
func (l *List) Sorted() []Diagnostic {
	out := slices.Clone(l.items)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(out)
}

// Err returns nil if there is no error, else a *Failure with every entry.
func (l *List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return &Failure{Diagnostics: l.Sorted()}
}

// Failure is a run refused because of its input.
type Failure struct{ Diagnostics []Diagnostic }

func (f *Failure) Error() string {
	lines := make([]string, len(f.Diagnostics))
	for i, d := range f.Diagnostics {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

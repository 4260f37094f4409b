package idemtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// result is what became of a check.
type result string

// The results of a check.
const (
	passed     result = "passed"
	failed     result = "failed"
	notChecked result = "not checked" // what it needs is missing
	noMatter   result = "does not apply"
)

// finding is what was found about one promise of one operation.
type finding struct {
	operation string // "" for the service as a whole
	promise   string // as the subtest is called
	result    result
	// reason says why, unless it has passed; then what was left out.
	reason string
}

// judge ends a test by what its check found.
func (f finding) judge(t testing.TB) {
	t.Helper()
	switch f.result {
	case failed:
		t.Fatal(f.reason)
	case notChecked:
		t.Skip(f.reason)
	case noMatter:
		t.Skipf("%s: %s", f.result, f.reason)
	}
}

// report is what Conformance has found, in the order in which it was checked.
type report struct{ findings []finding }

// notes are what a check has left out.
type notes struct{ lines []string }

func (n *notes) add(line string) {
	if n != nil {
		n.lines = append(n.lines, line)
	}
}

// add remembers what a check found.
func (r *report) add(operation, promise string, n *notes, found error) finding {
	f := finding{operation: operation, promise: promise, result: passed}
	var skipped skip
	var nothing moot
	switch {
	case errors.As(found, &skipped):
		f.result, f.reason = notChecked, string(skipped)
	case errors.As(found, &nothing):
		f.result, f.reason = noMatter, string(nothing)
	case found != nil:
		f.result, f.reason = failed, found.Error()
	case n != nil:
		f.reason = strings.Join(n.lines, "; ")
	}
	r.findings = append(r.findings, f)
	return f
}

// text has one line per operation and promise.
func (r *report) text() string {
	var out strings.Builder
	for _, f := range r.findings {
		fmt.Fprintf(&out, "%-20s  %-28s  %s", orService(f.operation), f.promise, f.result)
		if f.reason != "" {
			fmt.Fprintf(&out, ": %s", oneLine(f.reason))
		}
		out.WriteString("\n")
	}
	return out.String()
}

func orService(operation string) string {
	if operation == "" {
		return "(service)"
	}
	return operation
}

// oneLine joins the lines of a reason.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// markdown is a table of promises and operations: ✓ passed, ✗ failed, ? not
// checked, – does not apply. The numbers are those of the reasons below it.
func (r *report) markdown() string {
	var out, reasons strings.Builder
	operations, promises := r.heads()
	fmt.Fprintf(&out, "| promise | %s |\n|---|%s\n", strings.Join(operations, " | "), strings.Repeat(":-:|", len(operations)))
	numbers := map[string]int{}
	for _, promise := range promises {
		fmt.Fprintf(&out, "| %s |", promise)
		for _, operation := range operations {
			out.WriteString(" " + r.cell(operation, promise, numbers, &reasons) + " |")
		}
		out.WriteString("\n")
	}
	if reasons.Len() > 0 {
		out.WriteString("\n" + reasons.String())
	}
	return out.String()
}

// heads are the operations and the promises, in order.
func (r *report) heads() (operations, promises []string) {
	for _, f := range r.findings {
		if name := orService(f.operation); !slices.Contains(operations, name) {
			operations = append(operations, name)
		}
		if !slices.Contains(promises, f.promise) {
			promises = append(promises, f.promise)
		}
	}
	return operations, promises
}

// cell is one finding, with the number of its reason; equal reasons share one.
func (r *report) cell(operation, promise string, numbers map[string]int, reasons *strings.Builder) string {
	at := slices.IndexFunc(r.findings, func(f finding) bool { return orService(f.operation) == operation && f.promise == promise })
	if at < 0 {
		return ""
	}
	f := r.findings[at]
	mark := map[result]string{passed: "✓", noMatter: "–", notChecked: "?", failed: "**✗**"}[f.result]
	if f.reason == "" {
		return mark
	}
	reason := oneLine(f.reason)
	if numbers[reason] == 0 {
		numbers[reason] = len(numbers) + 1
		fmt.Fprintf(reasons, "%d. %s\n", numbers[reason], reason)
	}
	return fmt.Sprintf("%s %d", mark, numbers[reason])
}

// skippedWhole are the operations of which nothing was checked.
func (r *report) skippedWhole() (names []string) {
	for _, f := range r.findings {
		if (f.promise == exampleCheck || f.promise == unkeyedCheck) && f.result == notChecked {
			names = append(names, f.operation)
		}
	}
	return names
}

// checked reports whether a promise about an operation has held.
func (r *report) checked(operation string) bool {
	return slices.ContainsFunc(r.findings, func(f finding) bool { return f.operation == operation && f.result == passed })
}

// publish logs the report, all of it with -v, else what was not checked, and
// writes it to a user's writer.
func (r *report) publish(t testing.TB, to io.Writer) {
	t.Helper()
	if testing.Verbose() {
		t.Logf("what was checked:\n%s", r.text())
	}
	if names := r.skippedWhole(); len(names) > 0 {
		// Not by t.Log, which is silent without -v. The go command shows it when
		// it is run in the package's folder.
		fmt.Fprintf(os.Stderr, "idemtest: %s: NOT CHECKED: %s; go test -v says what is missing\n", t.Name(), strings.Join(names, ", "))
	}
	if to != nil {
		if _, err := io.WriteString(to, r.markdown()); err != nil {
			t.Errorf("idemtest: write the report: %v", err)
		}
	}
}

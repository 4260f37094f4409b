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

// Result is what became of a check.
type Result string

// The results of a check.
const (
	Passed  Result = "passed"
	Failed  Result = "failed"
	Skipped Result = "not checked" // what it needs is missing
	Moot    Result = "does not apply"
)

// Finding is what was found about one promise of one operation.
type Finding struct {
	Operation string // "" for the service as a whole
	Promise   string // as the subtest is called
	Result    Result
	// Reason says why, unless it has passed; then what was left out.
	Reason string
}

// Report is what Conformance has found, in the order in which it was checked.
type Report struct{ Findings []Finding }

// notes are what a check has left out.
type notes struct{ lines []string }

func (n *notes) add(line string) {
	if n != nil {
		n.lines = append(n.lines, line)
	}
}

// add remembers what a check found, and gives it back.
func (r *Report) add(operation, promise string, n *notes, found error) error {
	f := Finding{Operation: operation, Promise: promise, Result: Passed}
	var skipped skip
	var nothing moot
	switch {
	case errors.As(found, &skipped):
		f.Result, f.Reason = Skipped, string(skipped)
	case errors.As(found, &nothing):
		f.Result, f.Reason = Moot, string(nothing)
	case found != nil:
		f.Result, f.Reason = Failed, found.Error()
	case n != nil:
		f.Reason = strings.Join(n.lines, "; ")
	}
	r.Findings = append(r.Findings, f)
	return found
}

// String has one line per operation and promise.
func (r *Report) String() string {
	var out strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%-20s  %-28s  %s", orService(f.Operation), f.Promise, f.Result)
		if f.Reason != "" {
			fmt.Fprintf(&out, ": %s", oneLine(f.Reason))
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

// Markdown is a table of promises and operations: ✓ passed, ✗ failed, ? not
// checked, – does not apply. The numbers are those of the reasons below it.
func (r *Report) Markdown() string {
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
func (r *Report) heads() (operations, promises []string) {
	for _, f := range r.Findings {
		if name := orService(f.Operation); !slices.Contains(operations, name) {
			operations = append(operations, name)
		}
		if !slices.Contains(promises, f.Promise) {
			promises = append(promises, f.Promise)
		}
	}
	return operations, promises
}

// cell is one finding, with the number of its reason; equal reasons share one.
func (r *Report) cell(operation, promise string, numbers map[string]int, reasons *strings.Builder) string {
	at := slices.IndexFunc(r.Findings, func(f Finding) bool { return orService(f.Operation) == operation && f.Promise == promise })
	if at < 0 {
		return ""
	}
	f := r.Findings[at]
	mark := map[Result]string{Passed: "✓", Moot: "–", Skipped: "?", Failed: "**✗**"}[f.Result]
	if f.Reason == "" {
		return mark
	}
	reason := oneLine(f.Reason)
	if numbers[reason] == 0 {
		numbers[reason] = len(numbers) + 1
		fmt.Fprintf(reasons, "%d. %s\n", numbers[reason], reason)
	}
	return fmt.Sprintf("%s %d", mark, numbers[reason])
}

// skippedWhole are the operations of which nothing was checked.
func (r *Report) skippedWhole() (names []string) {
	for _, f := range r.Findings {
		if f.Promise == exampleCheck && f.Result == Skipped {
			names = append(names, f.Operation)
		}
	}
	return names
}

// publish logs the report, all of it with -v, else what was not checked, and
// writes it to a user's writer.
func (r *Report) publish(t testing.TB, to io.Writer) {
	t.Helper()
	if testing.Verbose() {
		t.Logf("what was checked:\n%s", r)
	}
	if names := r.skippedWhole(); len(names) > 0 {
		// Not by t.Log, which is silent without -v. The go command shows it when
		// it is run in the package's folder.
		fmt.Fprintf(os.Stderr, "idemtest: %s: NOT CHECKED: %s; go test -v says what is missing\n", t.Name(), strings.Join(names, ", "))
	}
	if to != nil {
		if _, err := io.WriteString(to, r.Markdown()); err != nil {
			t.Errorf("idemtest: write the report: %v", err)
		}
	}
}

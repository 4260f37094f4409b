package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/idemgen/idemgen/bench/faults/history"
)

// columns of the report, behind what was done.
var columns = []history.Kind{history.Double, history.Lost, history.Differing, history.Stuck, history.Crossed, history.Unexpected}

// progress says how one campaign ended, with the first of its violations.
func progress(out io.Writer, r result) {
	const shown = 20
	fmt.Fprintf(out, "%s: %d faults, %d requests, %d violations, %s\n", r.name, r.injected, r.requests, len(r.violations), r.took.Round(time.Second))
	if r.skipped != "" {
		fmt.Fprintf(out, "  skipped: %s\n", r.skipped)
	}
	for _, v := range r.violations[:min(shown, len(r.violations))] {
		fmt.Fprintf(out, "  %s\n", v)
	}
}

// report prints the table, and reports whether it has only zeros.
func report(out io.Writer, results []result) (held bool) {
	fmt.Fprintln(out, "| fault | injected | requests | keys | double effects | lost | differing | stuck | cross-scope | unexpected answers |")
	fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	total := result{name: "all"}
	for _, r := range results {
		if r.skipped != "" {
			fmt.Fprintf(out, "| %s | skipped: %s |\n", r.name, strings.Join(strings.Fields(r.skipped), " "))
			continue
		}
		r.row(out)
		total.injected += r.injected
		total.requests += r.requests
		total.keys += r.keys
		total.violations = append(total.violations, r.violations...)
	}
	total.row(out)
	return len(total.violations) == 0
}

func (r result) row(out io.Writer) {
	fmt.Fprintf(out, "| %s | %d | %d | %d |", r.name, r.injected, r.requests, r.keys)
	for _, kind := range columns {
		fmt.Fprintf(out, " %d |", r.count(kind))
	}
	fmt.Fprintln(out)
}

package docs_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

var update = flag.Bool("update", false, "rewrite diagnostics.md")

// TestDiagnosticsPageIsWhatExplainSays: docs/diagnostics.md is made of the
// entries of `idemgen explain`, each of which is tried in a test of its package.
func TestDiagnosticsPageIsWhatExplainSays(t *testing.T) {
	const page = "diagnostics.md"
	want := diagnosticsPage()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what `idemgen explain` says: go test ./docs -run Diagnostics -update", page)
	}
}

func diagnosticsPage() string {
	var b strings.Builder
	b.WriteString(`# Diagnostics

What idemgen says about its input, by code. A code never changes its meaning; ` + "`idemgen explain CODE`" + ` prints its entry.
Those from IDEM080 on are risks, which only ` + "[`idemgen lint`](cli.md#idemgen-lint)" + ` reports.

| code | means |
|---|---|
`)
	for _, code := range diag.Codes() {
		e, _ := diag.Explain(code)
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", code, strings.ToLower(string(code)), e.Title)
	}
	for _, code := range diag.Codes() {
		e, _ := diag.Explain(code)
		fmt.Fprintf(&b, "\n## %s\n\n**%s.** %s\n\nWrong:\n\n```text\n%s\n```\n\nRight:\n\n```text\n%s\n```\n",
			code, strings.ToUpper(e.Title[:1])+e.Title[1:], strings.TrimSpace(e.Meaning), strings.TrimRight(e.Wrong, "\n"), strings.TrimRight(e.Right, "\n"))
	}
	return b.String()
}

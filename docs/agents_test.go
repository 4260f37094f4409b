package docs_test

import (
	"os"
	"strings"
	"testing"
)

// TestAgentExamplesRun holds the examples to code that runs. The transcript is held
// to the service by a test of its own.
func TestAgentExamplesRun(t *testing.T) {
	var code strings.Builder
	for _, file := range []string{
		"../idem/tool/example_test.go", "../example-service/agents.go", "../example-service/main.go",
		"../example-service/db/queries/payments.sql", "../example-service/endpoints/agents.yaml",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	run := unindented(code.String())
	checked := 0
	for _, b := range readPage(t, "agents.md").blocks {
		if strings.HasPrefix(b.text, "→ ") {
			continue
		}
		checked++
		if !strings.Contains(run, unindented(b.text)) {
			t.Errorf("agents.md:%d: this is in no file that runs:\n%s", b.line, b.text)
		}
	}
	if checked < 5 {
		t.Errorf("only %d examples", checked)
	}
}

// unindented is text without what its lines begin with.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, " \t")
	}
	return strings.Join(lines, "\n")
}

// isToolProblem reports whether package idem/tool makes a problem of that code.
func isToolProblem(t *testing.T, code string) bool {
	t.Helper()
	text, err := os.ReadFile("../idem/tool/tool.go")
	if err != nil {
		t.Fatal(err)
	}
	meta, err := os.ReadFile("../idem/tool/meta.go")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text)+string(meta), `"`+code+`"`)
}

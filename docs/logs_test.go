package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogMessagesAreDocumented: what the runtime and the dispatcher log, operators look
// up in operations.md. A message is known by its words up to the first comma, colon or
// semicolon.
func TestLogMessagesAreDocumented(t *testing.T) {
	text := section(t, readPage(t, "operations.md"), "Logs")
	found := 0
	for _, message := range logMessages(t, "../idem", "../idem/outbox") {
		found++
		if words := message[:strings.IndexAny(message+";", ",:;")]; !strings.Contains(text, "`"+words+"`") {
			t.Errorf("operations.md does not say what `%s` means", words)
		}
	}
	if found < 25 {
		t.Errorf("only %d messages", found)
	}
}

// logMessages are the first texts of calls of slog's methods, where they
// are written out.
func logMessages(t *testing.T, folders ...string) (out []string) {
	t.Helper()
	place := map[string]int{"ErrorContext": 1, "WarnContext": 1, "InfoContext": 1, "Error": 0, "Warn": 0, "LogAttrs": 2, "Log": 2}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				method, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if i, logs := place[method.Sel.Name]; logs && i < len(call.Args) && literal(call.Args[i]) != "" {
					out = append(out, literal(call.Args[i]))
				}
				return true
			})
		}
	}
	return out
}

package diag

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declaredCodes reads the constants of type Code from the files code*.go, so
// that a new one without an explanation fails here.
func declaredCodes(t *testing.T) []Code {
	t.Helper()
	names, err := filepath.Glob("code*.go")
	if err != nil {
		t.Fatal(err)
	}
	var codes []Code
	for _, name := range names {
		codes = append(codes, codesOf(t, name)...)
	}
	return codes
}

func codesOf(t *testing.T, name string) []Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []Code
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range v.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, Code(text))
		}
		return true
	})
	return codes
}

func TestEveryCodeIsExplained(t *testing.T) {
	codes := declaredCodes(t)
	if len(codes) < 30 {
		t.Fatalf("found only %d codes in code.go", len(codes))
	}
	for _, code := range codes {
		e, ok := Explain(code)
		if !ok {
			t.Errorf("%s has no explanation", code)
			continue
		}
		if e.Title == "" || e.Meaning == "" || e.Wrong == "" || e.Right == "" || e.Wrong == e.Right {
			t.Errorf("%s is not complete: %+v", code, e)
		}
		if strings.HasSuffix(e.Title, ".") || !strings.HasSuffix(e.Meaning, ".") {
			t.Errorf("%s: the title ends without a period, the meaning with one", code)
		}
	}
	slices.Sort(codes)
	if got := Codes(); !slices.Equal(got, codes) {
		t.Errorf("explained: %v\ndeclared: %v", got, codes)
	}
}

func TestExplainUnknown(t *testing.T) {
	if e, ok := Explain("IDEM999"); ok {
		t.Errorf("explained: %+v", e)
	}
}

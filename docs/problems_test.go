package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// runtimeFiles parses package idem, its tests apart.
func runtimeFiles(t *testing.T) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob("../idem/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// literal is the value of a string constant, "" for anything else.
func literal(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	return ""
}

func typeName(e ast.Expr) string {
	id, _ := e.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// statusOf is the number of http.StatusX.
func statusOf(e ast.Expr) int {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return 0
	}
	for n := 100; n < 600; n++ {
		if name := strings.NewReplacer(" ", "", "-", "").Replace(http.StatusText(n)); name != "" && sel.Sel.Name == "Status"+name {
			return n
		}
	}
	return 0
}

// statusOfProfile is the status of p.FIELD in profile ietf.
func statusOfProfile(files []*ast.File, e ast.Expr) (status int) {
	field, ok := e.(*ast.SelectorExpr)
	if !ok {
		return 0
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); !ok || spec.Names[0].Name != "ietf" {
				return !ok
			}
			ast.Inspect(n, func(n ast.Node) bool {
				if kv, ok := n.(*ast.KeyValueExpr); ok && typeName(kv.Key) == field.Sel.Name {
					status = statusOf(kv.Value)
				}
				return true
			})
			return false
		})
	}
	return status
}

type problem struct {
	status    int
	retryable bool
}

// problemCodes are the codes of Error literals, and those that are passed to a
// function which puts its parameter into one.
func problemCodes(t *testing.T) map[string]problem {
	t.Helper()
	files := runtimeFiles(t)
	codes, makers := map[string]problem{}, map[string]problem{}
	for _, file := range files {
		for _, decl := range file.Decls {
			f, _ := decl.(*ast.FuncDecl)
			ast.Inspect(decl, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || typeName(lit.Type) != "Error" {
					return true
				}
				var p problem
				var code ast.Expr
				for _, e := range lit.Elts {
					kv := e.(*ast.KeyValueExpr)
					switch typeName(kv.Key) {
					case "Status":
						if p.status = statusOf(kv.Value); p.status == 0 {
							p.status = statusOfProfile(files, kv.Value)
						}
					case "Code":
						code = kv.Value
					case "retryAfter":
						p.retryable = true
					}
				}
				p.retryable = p.retryable || p.status >= 500
				if text := literal(code); text != "" {
					codes[text] = p
				} else if p.status != 0 && f != nil {
					makers[f.Name.Name] = p
				}
				return true
			})
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
				if p, ok := makers[typeName(call.Fun)]; ok && literal(call.Args[0]) != "" {
					codes[literal(call.Args[0])] = p
				}
			}
			return true
		})
	}
	return codes
}

// fieldCodes are the codes of what is wrong with a field.
func fieldCodes(t *testing.T) []string {
	t.Helper()
	var out []string
	add := func(e ast.Expr) {
		if code := literal(e); code != "" && !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	for _, file := range runtimeFiles(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if m, ok := lit.Type.(*ast.MapType); ok && typeName(m.Value) == "boundForm" {
				for _, e := range lit.Elts {
					add(e.(*ast.KeyValueExpr).Value.(*ast.CompositeLit).Elts[0])
				}
			}
			switch typeName(lit.Type) {
			case "valueFault":
				add(lit.Elts[0])
			case "FieldError":
				for _, e := range lit.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && typeName(kv.Key) == "Code" {
						add(kv.Value)
					}
				}
			}
			return true
		})
	}
	return out
}

func TestProblemCodesAreDocumented(t *testing.T) {
	page := readPage(t, "semantics.md")
	rows := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (\\d{3}) \\| (yes|no) \\|")
	documented := map[string]problem{}
	for _, m := range rows.FindAllStringSubmatch(section(t, page, "Problems"), -1) {
		status, _ := strconv.Atoi(m[2])
		documented[m[1]] = problem{status, m[3] == "yes"}
	}
	codes := problemCodes(t)
	if len(codes) < 20 {
		t.Fatalf("found only %d codes in package idem", len(codes))
	}
	for code, want := range codes {
		if got, ok := documented[code]; !ok {
			t.Errorf("semantics.md lacks %s", code)
		} else if got != want {
			t.Errorf("%s is %+v, semantics.md says %+v", code, want, got)
		}
	}
	for code := range documented {
		if _, ok := codes[code]; !ok {
			t.Errorf("semantics.md has %s, the code has not", code)
		}
	}
}

func TestMentionedProblemCodesExist(t *testing.T) {
	codes := problemCodes(t)
	mention := regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")
	for _, p := range pages(t) {
		for _, m := range mention.FindAllStringSubmatch(p.prose, -1) {
			if _, ok := codes[m[1]]; !ok && !isReviewRule(m[1]) && !isToolProblem(t, m[1]) {
				t.Errorf("%s: `%s` is no problem code", p.path, m[1])
			}
		}
	}
}

func TestFieldCodesAreDocumented(t *testing.T) {
	_, rest, ok := strings.Cut(readPage(t, "semantics.md").text, "Codes in `errors`:")
	if !ok {
		t.Fatal("semantics.md does not list the codes of errors")
	}
	rest, _, _ = strings.Cut(rest, "\n\n")
	var documented []string
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(rest, -1) {
		documented = append(documented, m[1])
	}
	codes := fieldCodes(t)
	slices.Sort(codes)
	slices.Sort(documented)
	if !slices.Equal(codes, documented) {
		t.Errorf("the code has %v, semantics.md %v", codes, documented)
	}
}

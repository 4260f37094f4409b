package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

func seed(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("%s: no files (%v)", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
}

// inside fails for a diagnostic outside the text, or without a hint.
func inside(t *testing.T, text string, diags *diag.List) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for _, d := range diags.Sorted() {
		p := d.Pos
		if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 || p.Width > 1 && p.Col-1+p.Width > len(lines[p.Line-1]) {
			t.Fatalf("outside the file: %+v\n%q", d, text)
		}
	}
}

func FuzzParseQueryFile(f *testing.F) {
	seed(f, "testdata/queries/*.sql")
	f.Fuzz(func(t *testing.T, text string) {
		var diags diag.List
		for _, d := range ParseQueryFile("q.sql", text, &diags) {
			lines := strings.Split(text, "\n")
			if d.SQL.Line < 1 || d.SQL.Line > len(lines) {
				if !diags.HasErrors() {
					t.Fatalf("SQL outside the file: %+v", d.SQL)
				}
				continue
			}
			first, _, _ := strings.Cut(d.SQL.Text, "\n")
			if !diags.HasErrors() && len(first) > len(lines[d.SQL.Line-1]) {
				t.Fatalf("columns of the SQL differ: %q in %q", first, lines[d.SQL.Line-1])
			}
		}
		inside(t, text, &diags)
	})
}

func FuzzAnnotation(f *testing.F) {
	seed(f, "testdata/queries/words.sql")
	for _, s := range []string{"http GET /a", "bind a has(body.b) min='1'", `header A "{b}"`, "policy fingerprint=only(a,b)", "intent a (b) where c return"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		text := "-- name: A :one\n-- @" + line + "\nSELECT 1;\n"
		var diags diag.List
		ParseQueryFile("q.sql", text, &diags)
		inside(t, text, &diags)
	})
}

func FuzzParseEndpoints(f *testing.F) {
	seed(f, "testdata/endpoints/*.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		var diags diag.List
		ParseEndpoints("e.yaml", []byte(text), &diags)
		inside(t, text, &diags)
	})
}

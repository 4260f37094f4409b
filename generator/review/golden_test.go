package review_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/review"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases is a module with an operation of every kind, and hostile names. It runs
// the real sqlc.
func cases(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/cases")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func generate(t *testing.T, dir string, dry bool) *generator.Result {
	t.Helper()
	result, err := generator.Run(context.Background(), generator.Options{Dir: dir, DryRun: dry})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (run with -update):\n%s", path, got)
	}
}

// TestGoldens: what is emitted, and the same bytes in the next run, when the
// missing migrations are there.
func TestGoldens(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	dir := cases(t)
	first := generate(t, dir, false)
	for _, c := range first.Changes {
		switch filepath.Base(c.Path) {
		case review.MarkdownFile, review.JSONFile:
			golden(t, filepath.Base(c.Path), c.New)
		}
	}
	for _, c := range generate(t, dir, true).Changes {
		if c.Action != files.Keep {
			t.Errorf("the second run would %s %s", c.Action, c.Path)
		}
	}
	parsed, err := review.Parse(read(t, filepath.Join(dir, "internal/api", review.JSONFile)))
	if err != nil {
		t.Fatal(err)
	}
	if report := review.Compare(parsed, first.Review); len(report.Findings)+len(report.Changes) > 0 {
		t.Errorf("it differs from itself, read back: %+v %+v", report.Findings, report.Changes)
	}
	report := review.Compare(nil, first.Review)
	report.Base, report.Commit = "main", "0123456789abcdef"
	page, err := report.HTML()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "page.html", page)
	golden(t, "comment.md", []byte(report.Markdown()))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestStatementsAreThoseOfTheFiles: REVIEW.md quotes what runs.
func TestStatementsAreThoseOfTheFiles(t *testing.T) {
	const out = "../../example-service/internal/api/"
	text := string(read(t, out+review.MarkdownFile))
	quoted := 0
	names, err := filepath.Glob(out + "sql/*.sql")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		_, body, _ := strings.Cut(string(read(t, name)), "-- statement: ")
		for _, section := range strings.Split(body, "\n-- statement: ") {
			_, sql, _ := strings.Cut(section, "\n")
			if !strings.Contains(text, "```sql\n"+strings.TrimSpace(sql)+"\n```\n") {
				t.Errorf("%s: this is not in REVIEW.md:\n%s", name, sql)
			}
			quoted++
		}
	}
	if quoted < 20 {
		t.Errorf("only %d statements", quoted)
	}
}

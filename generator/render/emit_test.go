package render

import (
	"bytes"
	"flag"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/files"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestEmit(t *testing.T) {
	for _, c := range emitCases() {
		t.Run(c.name, func(t *testing.T) {
			got, err := Emit("", c.svc, c.ops)
			if err != nil {
				t.Fatal(err)
			}
			compareFolder(t, filepath.Join("testdata", "golden", c.name), got)
			again, err := Emit("", c.svc, c.ops)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				wantGofmt(t, got[i])
				if !bytes.Equal(got[i].Content, again[i].Content) {
					t.Errorf("%s differs between two runs", got[i].Path)
				}
			}
		})
	}
}

func wantGofmt(t *testing.T, f files.File) {
	t.Helper()
	if filepath.Ext(f.Path) != ".go" {
		return
	}
	formatted, err := format.Source(f.Content)
	if err != nil || !bytes.Equal(formatted, f.Content) {
		t.Errorf("gofmt would change %s: %v", f.Path, err)
	}
}

// compareFolder compares files with a golden folder, both ways.
func compareFolder(t *testing.T, folder string, got []files.File) {
	t.Helper()
	if *update {
		rewriteFolder(t, folder, got)
	}
	var want []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			want = append(want, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		want = slices.DeleteFunc(want, func(w string) bool { return w == path })
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v (go test -update writes it)", err)
			continue
		}
		if !bytes.Equal(golden, f.Content) {
			t.Errorf("%s differs from its golden file:\n%s", path, f.Content)
		}
	}
	for _, path := range want {
		t.Errorf("%s is no longer emitted", path)
	}
}

func rewriteFolder(t *testing.T, folder string, got []files.File) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for _, f := range got {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

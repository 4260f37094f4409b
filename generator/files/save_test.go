package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSaveWritesTheFileOrNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	for _, text := range []string{"one", "another"} {
		if err := Save(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(name); string(got) != text {
			t.Errorf("got %q", got)
		}
	}
	if err := Save(dir, nil); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if err := Save(filepath.Join(dir, "none", "page.html"), nil); err == nil {
		t.Error("a folder was made")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

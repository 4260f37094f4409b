package pgserver

import (
	"os"
	"path/filepath"
	"testing"
)

// TMPDIR is where temporary files are to be, and a folder that is missing has no
// room.
func TestTemporaryFoldersAreWhereTheyMayBe(t *testing.T) {
	if n := freeBytes(filepath.Join(t.TempDir(), "missing")); n != 0 {
		t.Errorf("%d bytes are free in a folder that is missing", n)
	}
	t.Setenv("TMPDIR", "")
	if folder := inMemory(); folder != "" && freeBytes(folder) < enough {
		t.Errorf("%s has no room", folder)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	made, err := makeTemporary()
	if err != nil || filepath.Dir(made) != dir {
		t.Errorf("%s %v, want a folder in %s", made, err, dir)
	}
	if err := os.Remove(made); err != nil {
		t.Error(err)
	}
}

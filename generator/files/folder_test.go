package files

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCheckFolderNamesWhatIsInTheWay: a folder that is not there yet, or that a
// link inside the module leads to, is good.
func TestCheckFolderNamesWhatIsInTheWay(t *testing.T) {
	tree := open(t, map[string]string{"go.mod": "module m\n", "real/x": "", "a/file": ""})
	for link, target := range map[string]string{"in": "real", "out": t.TempDir(), "lost": "nowhere", "a/tofile": "file"} {
		if err := os.Symlink(target, filepath.Join(tree.Dir(), link)); err != nil {
			t.Fatal(err)
		}
	}
	for p, want := range map[string]string{
		"real": "", "new/one": "", "in": "", "in/new": "",
		"a/file":     "a/file is a file",
		"a/file/api": "a/file is a file",
		"out":        "out is a symbolic link that leads out of the module",
		"out/api":    "out is a symbolic link that leads out of the module",
		"lost/api":   "lost is a symbolic link that leads nowhere",
		"a/tofile/x": "a/tofile is a symbolic link to a file",
		"../x":       "it would be written outside of " + tree.Dir(),
	} {
		got := ""
		if err := tree.CheckFolder(p); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", p, got, want)
		}
	}
}

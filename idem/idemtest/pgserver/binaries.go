package pgserver

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// binaries is the folder of initdb and postgres: of the PATH, of the newest
// version that Debian installed, or downloaded into dir.
func binaries(run *runner, dir string) (string, error) {
	if bin, ok := installed(); ok {
		return bin, nil
	}
	return download(run, filepath.Join(dir, "postgresql"))
}

// Installed reports whether a server can be started without a download.
func Installed() bool {
	_, ok := installed()
	return ok
}

func installed() (string, bool) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(initdb); err == nil && complete(filepath.Dir(real)) {
			return filepath.Dir(real), true
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	found = slices.DeleteFunc(found, func(bin string) bool { return !complete(bin) })
	if len(found) == 0 {
		return "", false
	}
	return slices.MaxFunc(found, func(a, b string) int { return majorOf(a) - majorOf(b) }), true
}

func complete(bin string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return false
		}
	}
	return true
}

func majorOf(bin string) int {
	major, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin))) // not a number: oldest
	return major
}

// download unpacks binaries into dir. The library unpacks only on its way to
// starting a server, which fails as root; what counts is what it left behind.
func download(run *runner, dir string) (string, error) {
	bin := filepath.Join(dir, "bin")
	if complete(bin) {
		return bin, nil
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	scratch := dir + ".run"
	defer os.RemoveAll(scratch)
	server := embedded.NewDatabase(embedded.DefaultConfig().
		BinariesPath(dir).RuntimePath(scratch).Port(uint32(port)).Logger(io.Discard))
	startErr := server.Start()
	if startErr == nil {
		if err := server.Stop(); err != nil {
			return "", err
		}
	}
	if !complete(bin) {
		return "", fmt.Errorf("no PostgreSQL binaries are installed, and downloading them failed: %w", startErr)
	}
	return bin, run.ownAll(dir)
}

package sqlcrun

import (
	"os/exec"
	"path"

	"github.com/idemgen/idemgen/generator/files"
)

// Pinned is the sqlc that is run where the user has none of their own.
const Pinned = "github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1"

const sqlcPackage = "github.com/sqlc-dev/sqlc/cmd/sqlc"

// command says which sqlc to run: the configured one, the module's tool, the
// one in PATH, else the pinned version, built and cached by Go.
func command(configured []string, module files.Module) []string {
	switch {
	case len(configured) > 0:
		return configured
	case module.HasTool(sqlcPackage):
		return []string{"go", "tool", path.Base(sqlcPackage)}
	}
	if found, err := exec.LookPath("sqlc"); err == nil {
		return []string{found}
	}
	return []string{"go", "run", Pinned}
}

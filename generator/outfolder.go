package generator

import (
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// checkOut refuses an output folder that belongs to somebody else: what is
// emitted there would be taken for a migration or a query, be mixed with
// sqlc's package, or be cleared away with the vendored modules.
func (r *runner) checkOut() {
	pos, out := r.cfg.Pos["out"], r.cfg.Out
	refuse := func(what, folder string) {
		r.diags.Errorf(diag.ConfigValue, pos, "`out: %s` is in %s, %s", out, folder, what).
			Hint("choose a folder of its own, like internal/api")
	}
	if slices.Contains(strings.Split(out, "/"), "vendor") {
		refuse("which `go mod vendor` clears", "vendor")
		return
	}
	for _, f := range r.foreignFolders() {
		for _, emitted := range []string{out, path.Join(out, "sql")} {
			if emitted == f.path || f.path != "." && strings.HasPrefix(emitted, f.path+"/") {
				refuse(f.what, f.path)
				return
			}
		}
	}
}

// foreignFolder is a folder whose files are not idemgen's, and whose they are.
type foreignFolder struct{ path, what string }

func (r *runner) foreignFolders() []foreignFolder {
	out := []foreignFolder{{path.Clean(r.cfg.Migrations), "where the migrations are"}}
	for _, e := range r.entries {
		out = append(out, foreignFolder{path.Clean(e.Out), "where sqlc writes its package"})
		for _, p := range e.QueryFiles {
			out = append(out, foreignFolder{path.Dir(p), "where sqlc reads its queries"})
		}
		for _, p := range e.SchemaFiles {
			out = append(out, foreignFolder{path.Dir(p), "where sqlc reads the schema"})
		}
	}
	return out
}

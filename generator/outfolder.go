package generator

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/render"
)

// checkOut refuses an output folder that belongs to somebody else: what is
// emitted there would be taken for a migration or a query, be mixed with
// sqlc's package, or be cleared away with the vendored modules.
func (r *runner) checkOut() {
	out := r.cfg.Out
	pos := r.cfg.Place("out", out)
	refuse := func(what, folder string) {
		r.diags.Errorf(diag.ConfigValue, pos, "`out: %s` is in %s, %s", out, folder, what).
			Hint("choose a folder of its own, like internal/api")
	}
	if slices.Contains(strings.Split(out, "/"), "vendor") {
		refuse("which `go mod vendor` clears", "vendor")
		return
	}
	if err := r.tree.CheckFolder(out); err != nil {
		r.diags.Errorf(diag.ConfigValue, pos, "nothing can be written to `out: %s`: %v", out, err).
			Hint("choose a folder of its own inside the module, like internal/api; or move what is there")
		return
	}
	for _, f := range r.foreignFolders() {
		for _, emitted := range []string{out, path.Join(out, "sql"), path.Join(out, "tools")} {
			if emitted == f.path || f.path != "." && strings.HasPrefix(emitted, f.path+"/") {
				refuse(f.what, f.path)
				return
			}
		}
	}
}

// checkMigrations refuses a path that is no folder: the new migrations would
// have no place.
func (r *runner) checkMigrations() {
	folder := r.cfg.Migrations
	pos := r.cfg.Place("migrations", folder)
	parent := path.Dir(folder)
	switch {
	case strings.ContainsAny(folder, "*?["):
		r.diags.Errorf(diag.ConfigValue, pos, "`migrations:` is a folder, %s is a pattern", folder).Hint("write migrations: %s", parent)
	case r.tree.IsFile(folder):
		r.diags.Errorf(diag.ConfigValue, pos, "`migrations:` is a folder, %s is a file", folder).Hint("write migrations: %s", parent)
	}
}

// numbersUsedUp names the migration behind which there is no number left.
func (r *runner) numbersUsedUp(full *render.NumbersUsedUp) {
	pos := r.cfg.Place("migrations", r.cfg.Migrations)
	names, err := r.tree.SQL([]string{r.cfg.Migrations})
	for _, p := range names {
		if prefix, _, ok := strings.Cut(path.Base(p), "_"); err == nil && ok && strings.TrimLeft(prefix, "0") == strconv.FormatInt(full.Last, 10) {
			pos = diag.Pos{File: p, Line: 1, Col: 1}
		}
	}
	r.diags.Errorf(diag.MigrationOrder, pos, "the numbers of %d digits are used up: idemgen has to add migration %s, which sqlc would read before this one",
		full.Width, full.Next).
		Hint("rename the migrations to more digits, like %0*d_…: goose knows them by their number, not by their name", max(full.Width+1, 5), full.Last)
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

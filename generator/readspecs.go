package generator

import (
	"path"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// readSpecs parses the files that `specs:` names, each once.
func (r *runner) readSpecs() error {
	seen := map[string]bool{}
	for _, pattern := range r.cfg.Specs {
		names, err := r.tree.Glob(pattern)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			r.noSpec(pattern)
		}
		for _, p := range names {
			if seen[p] || !r.isSpec(pattern, p) {
				continue
			}
			seen[p] = true
			text, err := r.tree.Read(p)
			if err != nil {
				return err
			}
			r.endpoints = append(r.endpoints, spec.ParseEndpoints(p, text, &r.diags)...)
		}
	}
	return nil
}

// noSpec refuses an entry of `specs:` that names nothing: with a wrong path,
// the operations of the specs would be taken for removed.
func (r *runner) noSpec(pattern string) {
	at := r.cfg.Place("specs", pattern)
	if strings.ContainsAny(pattern, "*?[") {
		r.diags.Errorf(diag.ConfigMissing, at, "no file matches %s", pattern).
			Hint("correct the pattern; or leave it out until there is a spec")
		return
	}
	near := ""
	if others, err := r.tree.Glob(path.Join(path.Dir(pattern), "*.y*ml")); err == nil {
		near = diag.Nearest(pattern, others)
	}
	if near != "" {
		r.diags.Errorf(diag.ConfigMissing, at, "there is no file %s", pattern).Hint("did you mean %s?", near)
		return
	}
	r.diags.Errorf(diag.ConfigMissing, at, "there is no file %s", pattern).
		Hint("correct the path, or name a pattern: endpoints/*.yaml")
}

// isSpec refuses what can't be an endpoint spec: a folder, or a file of SQL.
func (r *runner) isSpec(pattern, p string) bool {
	at := r.cfg.Place("specs", pattern)
	switch {
	case !r.tree.IsFolder(p) && !r.tree.IsFile(p):
		r.diags.Errorf(diag.ConfigValue, at, "%s is a symbolic link that leads nowhere", p).Hint("remove the link, or put the file there")
	case r.tree.IsFolder(p) && p != pattern:
		r.diags.Errorf(diag.ConfigValue, at, "%s matches %s, which is a folder", pattern, p).Hint("rename the folder: `specs:` names files")
	case r.tree.IsFolder(p):
		r.diags.Errorf(diag.ConfigValue, at, "%s is a folder, `specs:` names files", p).Hint("write %s/*.yaml", p)
	case path.Ext(p) == ".sql":
		r.diags.Errorf(diag.ConfigValue, at, "%s is SQL, `specs:` names endpoint specs, which are YAML", p).
			Hint("queries are named by `queries:` of the sqlc file")
	default:
		return true
	}
	return false
}

package config

import (
	"path"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/yamltree"
)

// path reads one file or folder. Outside says that it may lie outside the
// folder of idemgen.yaml.
func (r *reader) path(e yamltree.Entry, target *string, example string, outside bool) {
	if s, ok := r.text(e, example); ok {
		if clean, ok := r.cleanPath(e.Key.Value, s, outside); ok {
			*target = clean
		}
	}
}

func (r *reader) cleanPath(key string, s yamltree.Scalar, outside bool) (string, bool) {
	clean := path.Clean(s.Value)
	switch {
	case strings.TrimSpace(s.Value) == "" || strings.ContainsFunc(s.Value, unicode.IsControl):
		r.bad(s.Pos, "write a path like internal/api", "`%s:` is no path", key)
	case strings.Contains(s.Value, `\`):
		r.bad(s.Pos, "write "+strings.ReplaceAll(s.Value, `\`, "/"), "paths are written with slashes")
	case path.IsAbs(clean) || len(clean) > 1 && clean[1] == ':':
		r.bad(s.Pos, "write it relative to the folder of idemgen.yaml", "`%s:` is an absolute path, which exists on one machine only", key)
	case !outside && (clean == "." || clean == ".." || strings.HasPrefix(clean, "../")):
		r.bad(s.Pos, "write a folder of its own, like internal/api", "`%s:` must be a folder below that of idemgen.yaml", key)
	default:
		if key == "files" {
			key = "sqlc"
		}
		r.cfg.places[place{key, clean}] = s.Pos
		return clean, true
	}
	return "", false
}

// paths reads a list of files or globs, or a single one.
func (r *reader) paths(e yamltree.Entry, target *[]string, example string) {
	nodes, ok := e.Value.List()
	if !ok {
		if e.Value.IsMap() {
			r.bad(e.Value.Pos(), "write "+e.Key.Value+": "+example, "`%s:` is a list of files, this is a mapping", e.Key.Value)
			return
		}
		nodes = []yamltree.Node{e.Value}
	}
	var out []string
	seen := map[string]bool{}
	for _, n := range nodes {
		s, ok := n.Text()
		if !ok {
			r.bad(n.Pos(), "write "+e.Key.Value+": "+example, "`%s:` is a list of files, this element is %s", e.Key.Value, n.Kind())
			continue
		}
		clean, ok := r.cleanPath(e.Key.Value, s, true)
		if ok && seen[clean] {
			r.bad(s.Pos, "remove one of the two", "%s stands twice in `%s:`", clean, e.Key.Value)
			continue
		}
		if _, err := path.Match(clean, ""); ok && err != nil {
			r.bad(s.Pos, "close the bracket, or escape it with a backslash", "%q is not a valid pattern", s.Value)
			continue
		}
		if ok {
			seen[clean] = true
			out = append(out, clean)
		}
	}
	*target = out
}

// sqlc reads the list of sqlc files, alone or beside the command to run.
func (r *reader) sqlc(e yamltree.Entry) {
	if !e.Value.IsMap() {
		r.sqlcFiles(e)
		return
	}
	entries, ok := e.Value.Map()
	if !ok {
		return
	}
	for _, k := range yamltree.Unknown(entries, sqlcKeys(), "`sqlc:`", r.diags) {
		if k.Key.Value == "files" {
			r.sqlcFiles(k)
		} else {
			r.sqlcCommand(k)
		}
	}
}

func sqlcKeys() []string { return []string{"files", "command"} }

func (r *reader) sqlcFiles(e yamltree.Entry) {
	r.paths(e, &r.cfg.Sqlc, "[sqlc.yaml]")
	if e.Value.IsList() && len(r.cfg.Sqlc) == 0 {
		r.bad(e.Value.Pos(), "write sqlc: [sqlc.yaml]", "`%s:` names no file", e.Key.Value)
	}
}

// sqlcCommand reads the program and its first arguments.
func (r *reader) sqlcCommand(e yamltree.Entry) {
	const hint = "write command: [go, tool, sqlc]"
	nodes, ok := e.Value.List()
	if !ok || len(nodes) == 0 {
		r.bad(e.Value.Pos(), hint, "the command is a list of a program and its arguments")
		return
	}
	for _, n := range nodes {
		s, ok := n.Text()
		if !ok || s.Value == "" {
			r.bad(n.Pos(), hint, "an argument of the command is %s", n.Kind())
			return
		}
		r.cfg.SqlcCommand = append(r.cfg.SqlcCommand, s.Value)
		if len(r.cfg.SqlcCommand) == 1 {
			r.cfg.places[place{"command", s.Value}] = s.Pos
		}
	}
}

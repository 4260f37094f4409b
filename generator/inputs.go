package generator

import (
	"maps"
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// inputs are the files that a run reads, as far as they are known: names, and
// folders and patterns whose files come and go.
type inputs struct {
	names []string // files
	sql   []string // files, folders and patterns of .sql files
	globs []string // of specs
}

// inputsOf reads the configuration and the sqlc files. What can't be read for
// now keeps the inputs that were known before.
func inputsOf(opts Options, before inputs) inputs {
	file := opts.ConfigFile
	if file == "" {
		file = DefaultConfig
	}
	out := inputs{names: []string{file, "go.mod"}, sql: before.sql, globs: before.globs}
	tree, err := files.Open(opts.Dir)
	if err != nil {
		return merge(out, before)
	}
	defer func() { _ = tree.Close() }()
	r := &runner{opts: opts, tree: tree}
	if err := r.readConfig(); err != nil || r.diags.HasErrors() {
		return merge(out, before)
	}
	out.names = append(out.names, r.cfg.Sqlc...)
	out.globs = r.cfg.Specs
	entries := sqlcrun.Entries(r.sqlcOptions(), &diag.List{})
	if len(entries) > 0 {
		out.sql = nil
	}
	out.sql = append(slices.Clone(out.sql), r.cfg.Migrations)
	for _, e := range entries {
		out.sql = append(append(out.sql, e.Schema...), e.Queries...)
	}
	return out
}

func merge(a, before inputs) inputs {
	a.names = append(a.names, before.names...)
	slices.Sort(a.names)
	a.names = slices.Compact(a.names)
	return a
}

// snapshot is the stamps of inputs by path.
type snapshot map[string]files.Stamp

// look takes the stamps of all inputs that are there. A folder that is gone, or
// can't be read, has no files.
func (in inputs) look(dir string) snapshot {
	out := snapshot{}
	tree, err := files.Open(dir)
	if err != nil {
		return out
	}
	defer func() { _ = tree.Close() }()
	for _, p := range in.names {
		out[p] = tree.StampOf(p)
	}
	for _, pattern := range in.sql {
		found, _ := tree.SQL([]string{pattern})
		for _, p := range found {
			out[p] = tree.StampOf(p)
		}
	}
	for _, pattern := range in.globs {
		found, _ := tree.Glob(pattern)
		for _, p := range found {
			out[p] = tree.StampOf(p)
		}
	}
	return out
}

func (s snapshot) equal(other snapshot) bool {
	return maps.EqualFunc(s, other, func(a, b files.Stamp) bool { return a.Size == b.Size && a.Time.Equal(b.Time) })
}

// written takes over what a run wrote itself, so that it is no change of input.
func (s snapshot) written(result *Result, now snapshot) {
	if result == nil {
		return
	}
	for _, c := range result.Changes {
		if stamp, ok := now[c.Path]; ok && c.Action == files.Write {
			s[c.Path] = stamp
		}
	}
}

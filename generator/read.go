package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// readConfig reads the configuration and demands a module around it.
func (r *runner) readConfig() error {
	file := r.opts.ConfigFile
	if file == "" {
		file = DefaultConfig
	}
	text, err := r.tree.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is not in %s; `idemgen init` makes a service, `idemgen init --existing` adds to one", ErrNoConfig, file, r.tree.Dir())
	}
	if err != nil && r.tree.IsFolder(file) {
		return fmt.Errorf("%w: %s in %s is a folder", ErrNoConfig, file, r.tree.Dir())
	}
	if err != nil {
		return fmt.Errorf("%s can't be read: %w", file, err)
	}
	if r.tree.Module.Path == "" {
		r.diags.Errorf(diag.ConfigMissing, diag.Pos{File: file, Line: 1, Col: 1}, "the service is in no Go module").
			Hint("run `go mod init example.com/myservice` in %s", r.tree.Dir())
	}
	r.cfg = config.Parse(file, text, r.tree.Module.Path, &r.diags)
	return r.eject(string(text))
}

// lockName is the lock beside a configuration file: idemgen.lock for
// idemgen.yaml.
func lockName(config string) string {
	return strings.TrimSuffix(config, path.Ext(config)) + ".lock"
}

// readCatalog builds the catalog from the migrations that sqlc reads, and
// from those that this run adds.
func (r *runner) readCatalog() error {
	var list []schema.File
	seen := map[string]bool{}
	add := func(p string, text []byte) {
		if !seen[p] {
			seen[p] = true
			list = append(list, schema.File{Path: p, Text: string(text)})
		}
	}
	for _, e := range r.entries {
		for _, p := range e.SchemaFiles {
			if seen[p] {
				continue
			}
			text, err := r.readSQL(p)
			if err != nil {
				return err
			}
			add(p, text)
		}
	}
	folder, covered, err := r.migrationFolder(seen)
	if err != nil {
		return err
	}
	for _, f := range r.migrations {
		if covered {
			add(f.Path, f.Content)
		}
		folder = append(folder, schema.File{Path: f.Path, Text: string(f.Content)})
	}
	scratch := &r.diags
	if len(r.migrations) > 0 {
		scratch = &diag.List{} // the same files were reported the first time
	}
	r.catalog = schema.Build(list, scratch)
	r.ddl = list
	if !covered {
		r.numberBy(folder)
		r.ddl = append(r.ddl, folder...)
	}
	return nil
}

// migrationFolder reads the goose folder, and reports whether the catalog
// takes it in. Where sqlc reads a dump instead, it doesn't: the folder then
// says only which of idemgen's migrations are there, and how they are numbered.
func (r *runner) migrationFolder(inCatalog map[string]bool) (list []schema.File, covered bool, err error) {
	names, err := r.tree.SQL([]string{r.cfg.Migrations})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	missing := err != nil
	covered = slices.ContainsFunc(names, func(p string) bool { return inCatalog[p] })
	for _, e := range r.entries {
		covered = covered || slices.Contains(e.Schema, path.Clean(r.cfg.Migrations))
	}
	for _, p := range names {
		text, err := r.readSQL(p)
		if err != nil {
			return nil, false, err
		}
		if text == nil {
			continue // reported: goose could not read it either
		}
		list = append(list, schema.File{Path: p, Text: string(text)})
	}
	if !covered {
		r.checkFolder(missing, list)
	}
	if covered || slices.ContainsFunc(list, func(f schema.File) bool { return schema.IsGoose(f.Text) }) {
		schema.CheckGoose(list, &r.diags)
	}
	return list, covered, nil
}

// checkFolder refuses a migration folder that sqlc does not read and that
// can't be goose's: a wrong path would get a second set of migrations, which
// nobody applies.
func (r *runner) checkFolder(missing bool, list []schema.File) {
	folder := r.cfg.Migrations
	pos := r.cfg.Place("migrations", folder)
	likely := r.gooseFolders()
	hint := "make the folder; or name the one that goose reads"
	if near := diag.Nearest(folder, likely); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(likely) > 0 {
		hint = "did you mean " + likely[0] + "? sqlc reads goose migrations from there"
	}
	isGoose := slices.ContainsFunc(list, func(f schema.File) bool { return schema.IsGoose(f.Text) })
	switch {
	case missing:
		r.diags.Errorf(diag.ConfigMissing, pos, "there is no folder %s", folder).Hint("%s", hint)
	case len(list) > 0 && !isGoose:
		r.diags.Errorf(diag.ConfigValue, pos, "the files in %s are no goose migrations", folder).Hint("%s", hint)
	case !isGoose && len(likely) > 0:
		r.diags.Errorf(diag.ConfigValue, pos, "there are no migrations in %s", folder).Hint("%s", hint)
	}
}

// gooseFolders are the folders with goose migrations among those that sqlc reads.
func (r *runner) gooseFolders() []string {
	var out []string
	for _, e := range r.entries {
		for _, p := range e.SchemaFiles {
			text, err := r.tree.Read(p)
			if dir := path.Dir(p); err == nil && schema.IsGoose(string(text)) && !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	return out
}

// numberBy takes markers and numbering from another folder than the catalog's.
func (r *runner) numberBy(folder []schema.File) {
	other := schema.Build(folder, &diag.List{})
	r.catalog.Markers, r.catalog.Runtime, r.catalog.Numbering = other.Markers, other.Runtime, other.Numbering
	r.catalog.Sweep = other.Sweep
}

// readDeclarations parses every query file and every endpoint spec.
func (r *runner) readDeclarations() error {
	seen := map[string]bool{}
	for _, e := range r.entries {
		for _, p := range e.QueryFiles {
			if seen[p] {
				continue
			}
			seen[p] = true
			text, err := r.readSQL(p)
			if err != nil {
				return err
			}
			r.decls = append(r.decls, spec.ParseQueryFile(p, string(text), &r.diags)...)
		}
	}
	return r.readSpecs()
}

// Source returns a function that gives the text of the files which the
// diagnostics of a run name.
func Source(dir string) func(file string) (string, bool) {
	tree, err := files.Open(dir)
	if err != nil {
		return func(string) (string, bool) { return "", false }
	}
	_ = tree.Close() // reading goes by path
	return func(file string) (string, bool) {
		text, err := tree.Read(file)
		return strings.TrimPrefix(string(text), yamltree.ByteOrderMark), err == nil
	}
}

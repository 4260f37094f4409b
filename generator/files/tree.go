package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is the user's tree, seen from the folder of idemgen.yaml. Paths given
// to it are relative to that folder, with slashes. Reading may leave the
// module (a monorepo keeps migrations elsewhere); writing may not, by any
// path or symbolic link. A Tree must be closed.
type Tree struct {
	Module Module // of the folder of idemgen.yaml; zero if it has none

	dir  string // absolute
	rel  string // dir below the writable root, with slashes
	disk disk
	root *os.Root
}

// Open makes a Tree of dir. Writes are limited to the module that dir is in,
// or to dir itself if it is in none.
func Open(dir string) (*Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	module, err := FindModule(abs)
	if err != nil && !errors.Is(err, ErrNoModule) {
		return nil, err
	}
	top := abs
	if module.Root != "" {
		top = module.Root
	}
	rel, err := filepath.Rel(top, abs)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	return &Tree{Module: module, dir: abs, rel: filepath.ToSlash(rel), disk: root, root: root}, nil
}

// Create is Open for a folder that may not be there yet: it is made.
func Create(dir string) (*Tree, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Close releases the tree.
func (t *Tree) Close() error { return t.root.Close() }

// Dir is the absolute folder of idemgen.yaml.
func (t *Tree) Dir() string { return t.dir }

// Abs is the absolute form of a path of the tree.
func (t *Tree) Abs(p string) string {
	if filepath.IsAbs(filepath.FromSlash(p)) {
		return filepath.Clean(filepath.FromSlash(p))
	}
	return filepath.Join(t.dir, filepath.FromSlash(p))
}

// Read returns a file's content.
func (t *Tree) Read(p string) ([]byte, error) { return os.ReadFile(t.Abs(p)) }

// Exists reports whether something is at p.
func (t *Tree) Exists(p string) bool {
	_, err := os.Lstat(t.Abs(p))
	return err == nil
}

// IsFile reports whether something that is no folder is at p.
func (t *Tree) IsFile(p string) bool {
	info, err := os.Stat(t.Abs(p))
	return err == nil && !info.IsDir()
}

// IsFolder reports whether a folder is at p.
func (t *Tree) IsFolder(p string) bool {
	info, err := os.Stat(t.Abs(p))
	return err == nil && info.IsDir()
}

// CheckFolder says why nothing can be written into the folder p, nil where it
// can, be the folder there or not: a file or a link is in its place, or links
// lead out of the module.
func (t *Tree) CheckFolder(p string) error {
	if _, err := t.inside(p); err != nil {
		return err
	}
	elements := strings.Split(path.Join(t.rel, p), "/")
	for n := range elements {
		name := filepath.Join(elements[:n+1]...)
		if err := t.checkOne(name); err != nil {
			return err
		}
	}
	return nil
}

// checkOne is CheckFolder for one folder, whose parents are good.
func (t *Tree) checkOne(name string) error {
	info, err := os.Lstat(filepath.Join(t.root.Name(), name))
	shown := t.rebase(filepath.Join(t.root.Name(), name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return nil
	case info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is a file", shown)
	}
	if at, err := t.root.Stat(name); err == nil {
		if !at.IsDir() {
			return fmt.Errorf("%s is a symbolic link to a file", shown)
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join(t.root.Name(), name)); err != nil {
		return fmt.Errorf("%s is a symbolic link that leads nowhere", shown)
	}
	return fmt.Errorf("%s is a symbolic link that leads out of the module", shown)
}

// Glob lists the files that match a pattern, sorted.
func (t *Tree) Glob(pattern string) ([]string, error) {
	pattern = path.Clean(pattern)
	if !filepath.IsLocal(filepath.FromSlash(pattern)) {
		return t.globOutside(pattern)
	}
	matches, err := fs.Glob(os.DirFS(t.dir), pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	return slices.Sorted(slices.Values(matches)), nil
}

// globOutside is Glob for patterns that begin with "..".
func (t *Tree) globOutside(pattern string) ([]string, error) {
	matches, err := filepath.Glob(t.Abs(pattern))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	out := make([]string, len(matches))
	for i, m := range matches {
		out[i] = t.rebase(m)
	}
	return slices.Sorted(slices.Values(out)), nil
}

// SQL lists the .sql files that sqlc would read for a list of files, folders
// and patterns, in sqlc's order: folders are not entered twice, hidden files
// and down migrations are left out.
func (t *Tree) SQL(patterns []string) ([]string, error) {
	var out []string
	for _, pattern := range patterns {
		found, err := t.sqlOf(pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (t *Tree) sqlOf(pattern string) ([]string, error) {
	paths := []string{pattern}
	if strings.ContainsAny(pattern, "*?[]") {
		var err error
		if paths, err = t.Glob(pattern); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, p := range paths {
		info, err := os.Stat(t.Abs(p))
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, path.Clean(p))
			continue
		}
		entries, err := os.ReadDir(t.Abs(p))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			out = append(out, path.Join(p, e.Name()))
		}
	}
	return slices.DeleteFunc(out, notSQL), nil
}

// rebase is an absolute path as the tree names it.
func (t *Tree) rebase(abs string) string {
	rel, err := filepath.Rel(t.dir, abs)
	if err != nil {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(rel)
}

// notSQL says which names sqlc passes over.
func notSQL(p string) bool {
	base := path.Base(p)
	return !strings.HasSuffix(base, ".sql") || strings.HasPrefix(base, ".") || strings.HasSuffix(base, ".down.sql")
}

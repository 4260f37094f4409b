package sqlcrun

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/files"
)

// work is a temporary folder with a config derived from one sqlc file. It lies
// outside of the user's tree, so that a run which is killed leaves nothing in
// it, and refers to the user's files by relative paths, the only ones sqlc has.
type work struct {
	folder  string // absolute, without symbolic links
	config  string
	entries []*Entry
	pending map[string]string // path in the folder to path in the tree
}

// The keys of a sqlc file and of its entries that don't take part: other
// generators, and rules of `sqlc vet`.
var (
	otherKeys      = []string{"sql", "plugins", "rules", "version"}
	otherEntryKeys = []string{"schema", "queries", "gen", "codegen", "rules"}
)

func prepare(opts Options, entries []*Entry) (*work, error) {
	folder, err := os.MkdirTemp("", "idemgen-sqlc-")
	if err != nil {
		return nil, err
	}
	w := &work{folder: folder, entries: entries, pending: map[string]string{}}
	if err := w.fill(opts); err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

func (w *work) remove() { _ = os.RemoveAll(w.folder) }

func (w *work) fill(opts Options) error {
	var err error
	if w.folder, err = filepath.EvalSymlinks(w.folder); err != nil {
		return err
	}
	doc := maps.Clone(w.entries[0].file)
	for _, key := range otherKeys {
		delete(doc, key)
	}
	doc["version"] = "2"
	list := make([]any, len(w.entries))
	for i, e := range w.entries {
		if list[i], err = w.entry(opts, i, e); err != nil {
			return err
		}
	}
	doc["sql"] = list
	derived, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	w.config = filepath.Join(w.folder, "sqlc.yaml")
	return os.WriteFile(w.config, derived, 0o600)
}

// entry is one entry with its paths seen from the folder, its Go output
// redirected, and the JSON added. Everything else is as the user wrote it.
func (w *work) entry(opts Options, i int, e *Entry) (map[string]any, error) {
	out := maps.Clone(e.raw)
	for _, key := range otherEntryKeys {
		delete(out, key)
	}
	gen, _ := e.raw["gen"].(map[string]any)
	golang, _ := gen["go"].(map[string]any)
	golang = maps.Clone(golang)
	golang["out"] = fmt.Sprintf("go%d", i)
	golang["package"] = e.Package.Name
	out["gen"] = map[string]any{"go": golang, "json": map[string]any{"out": fmt.Sprintf("json%d", i), "filename": "request.json", "indent": " "}}

	schema, err := w.schema(opts, e)
	if err != nil {
		return nil, err
	}
	out["schema"] = schema
	queries := make([]string, len(e.QueryFiles))
	for i, file := range e.QueryFiles {
		if queries[i], err = w.relative(opts.Tree.Abs(file)); err != nil {
			return nil, err
		}
	}
	out["queries"] = queries
	return out, nil
}

// schema lists an entry's migrations, the pending ones in their places.
func (w *work) schema(opts Options, e *Entry) ([]string, error) {
	var out []string
	for _, pattern := range e.Schema {
		list, err := opts.Tree.SQL([]string{pattern})
		if err != nil {
			return nil, err
		}
		pending := map[string][]byte{}
		for _, f := range opts.Pending {
			if names(pattern, f.Path) && !slices.Contains(list, f.Path) {
				pending[f.Path] = f.Content
				list = append(list, f.Path)
			}
		}
		if len(pending) > 0 {
			slices.Sort(list)
		}
		for _, file := range list {
			rel, err := w.place(opts.Tree, file, pending)
			if err != nil {
				return nil, err
			}
			out = append(out, rel)
		}
	}
	return out, nil
}

// names reports whether a schema path of a sqlc file takes in a file.
func names(pattern, file string) bool {
	if path.Clean(pattern) == path.Dir(file) || path.Clean(pattern) == file {
		return true
	}
	ok, err := path.Match(path.Clean(pattern), file)
	return ok && err == nil
}

// place is a migration's path for sqlc; a pending one is written first.
func (w *work) place(tree *files.Tree, file string, pending map[string][]byte) (string, error) {
	text, ok := pending[file]
	if !ok {
		return w.relative(tree.Abs(file))
	}
	rel := path.Join("pending", path.Base(file))
	w.pending[rel] = file
	if err := os.MkdirAll(filepath.Join(w.folder, "pending"), 0o700); err != nil {
		return "", err
	}
	return rel, os.WriteFile(filepath.Join(w.folder, filepath.FromSlash(rel)), text, 0o600)
}

// relative is an absolute path seen from the folder. sqlc takes a path with
// one of *?[] for a pattern: they are escaped.
func (w *work) relative(abs string) (string, error) {
	rel, err := filepath.Rel(w.folder, abs)
	if err != nil {
		return "", fmt.Errorf("sqlc needs relative paths: set TMPDIR to a folder on the drive of %s: %w", abs, err)
	}
	rel = filepath.ToSlash(rel)
	if strings.ContainsAny(rel, "*?[]") {
		rel = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(rel)
	}
	return rel, nil
}

// original is a path that sqlc wrote into a message, as the tree names it.
func (w *work) original(tree *files.Tree, name string) string {
	if file, ok := w.pending[filepath.ToSlash(filepath.Clean(name))]; ok {
		return file
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.folder, name)
	}
	rel, err := filepath.Rel(tree.Dir(), name)
	if err != nil {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}

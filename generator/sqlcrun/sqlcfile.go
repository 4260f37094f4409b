package sqlcrun

import (
	"errors"
	"io/fs"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// sqlcFile is a sqlc.yaml as far as idemgen looks into it.
type sqlcFile struct {
	pos     diag.Pos
	entries []sqlcEntry
	raw     map[string]any // as written
}

// sqlcEntry is an element of its list.
type sqlcEntry struct {
	pos             diag.Pos
	raw             map[string]any // as written
	engine          string
	schema, queries paths
	golang          *goOutput
	json            *jsonOutput
}

// goOutput is what stands under `gen: go:`.
type goOutput struct {
	pos               diag.Pos
	name, out, driver yamltree.Scalar
}

// jsonOutput is what stands under `gen: json:`.
type jsonOutput struct{ folder, file string }

// paths is a path, or a list of them.
type paths struct {
	list []string
	pos  diag.Pos
}

// readFile reads the text of a sqlc file. It reports false after an error.
func readFile(file string, text []byte, diags *diag.List) (sqlcFile, bool) {
	root, ok := yamltree.Parse(file, text, diags)
	if !ok {
		return sqlcFile{}, false
	}
	top := newSection(root, diags)
	if diags.HasErrors() || !version2(top) {
		return sqlcFile{}, false
	}
	doc := sqlcFile{pos: top.pos}
	for _, n := range top.list("sql") {
		doc.entries = append(doc.entries, newEntry(newSection(n, diags)))
	}
	if diags.HasErrors() {
		return doc, false
	}
	doc.raw, ok = root.Raw()
	elements, _ := doc.raw["sql"].([]any)
	for i, raw := range elements {
		doc.entries[i].raw, _ = raw.(map[string]any)
	}
	return doc, ok
}

// version2 refuses the files of version 1, whose entries stand elsewhere.
func version2(top *section) bool {
	version := top.text("version")
	switch version.Value {
	case "2":
		return true
	case "":
		top.diags.Errorf(diag.SqlcConfig, top.pos, "the sqlc file has no `version`").
			Hint("begin it with `version: \"2\"`, and write the entries under `sql:`; `idemgen init --existing` writes one")
	default:
		top.diags.Errorf(diag.SqlcConfig, version.Pos, "the sqlc file has version %q; idemgen reads version 2", version.Value).
			Hint("write `version: \"2\"` and move `packages:` to `sql:` as in https://docs.sqlc.dev/en/latest/reference/config.html")
	}
	return false
}

func newEntry(s *section) sqlcEntry {
	e := sqlcEntry{pos: s.pos, engine: s.text("engine").Value, schema: s.paths("schema"), queries: s.paths("queries")}
	gen := s.section("gen")
	if golang := gen.section("go"); golang != nil {
		e.golang = &goOutput{pos: golang.pos, name: golang.text("package"), out: golang.text("out"), driver: golang.text("sql_package")}
	}
	if json := gen.section("json"); json != nil {
		e.json = &jsonOutput{folder: json.text("out").Value, file: json.text("filename").Value}
	}
	return e
}

// section is a mapping of a sqlc file. Keys without a value are left out, as
// sqlc does. A nil section has no keys.
type section struct {
	pos   diag.Pos
	nodes map[string]yamltree.Node
	diags *diag.List
}

func newSection(n yamltree.Node, diags *diag.List) *section {
	s := &section{pos: n.Pos(), nodes: map[string]yamltree.Node{}, diags: diags}
	if !n.IsMap() && !n.IsNull() {
		s.wrong(n, "a mapping")
	}
	entries, _ := n.Map()
	for _, e := range entries {
		if !e.Value.IsNull() {
			s.nodes[e.Key.Value] = e.Value
		}
	}
	return s
}

func (s *section) wrong(n yamltree.Node, wanted string) {
	s.diags.Errorf(diag.SqlcConfig, n.Pos(), "the sqlc file has %s where %s is wanted", n.Kind(), wanted).
		Hint("a sqlc file has `version: \"2\"` and under `sql:` a list of entries; `sqlc compile` shows what sqlc itself says about it")
}

// section is the mapping under a key, nil if there is none.
func (s *section) section(key string) *section {
	if s == nil {
		return nil
	}
	n, ok := s.nodes[key]
	if !ok {
		return nil
	}
	return newSection(n, s.diags)
}

// text is the single value under a key, empty if there is none.
func (s *section) text(key string) yamltree.Scalar {
	n, ok := s.nodes[key]
	if !ok {
		return yamltree.Scalar{}
	}
	text, ok := n.Text()
	if !ok {
		s.wrong(n, "a single value")
	}
	return text
}

// list is the elements under a key.
func (s *section) list(key string) []yamltree.Node {
	n, ok := s.nodes[key]
	if !ok {
		return nil
	}
	elements, _ := n.List()
	if !n.IsList() {
		s.wrong(n, "a list")
	}
	return elements
}

func (s *section) paths(key string) paths {
	n, ok := s.nodes[key]
	if !ok {
		return paths{}
	}
	out := paths{pos: n.Pos()}
	if text, ok := n.Text(); ok {
		out.list = []string{text.Value}
		return out
	}
	for _, element := range s.list(key) {
		text, ok := element.Text()
		if !ok {
			s.wrong(element, "a single value")
		}
		out.list = append(out.list, text.Value)
	}
	return out
}

// keyPos is the place of the first key of a name in a sqlc file, its first
// character if there is none.
func keyPos(file string, text []byte, key string) diag.Pos {
	if root, ok := yamltree.Parse(file, text, &diag.List{}); ok {
		if pos, ok := keyBelow(root, key); ok {
			return pos
		}
	}
	return diag.Pos{File: file, Line: 1, Col: 1}
}

func keyBelow(n yamltree.Node, key string) (diag.Pos, bool) {
	entries, _ := n.Map()
	for _, e := range entries {
		if e.Key.Value == key {
			return e.Key.Pos, true
		}
		if pos, ok := keyBelow(e.Value, key); ok {
			return pos, true
		}
	}
	elements, _ := n.List()
	for _, element := range elements {
		if pos, ok := keyBelow(element, key); ok {
			return pos, true
		}
	}
	return diag.Pos{}, false
}

// cause is an error of the file system without the absolute path in it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

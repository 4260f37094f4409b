package sqlcrun

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// sqlcFile is a sqlc.yaml as far as idemgen looks into it.
type sqlcFile struct {
	Version string      `yaml:"version"`
	SQL     []yaml.Node `yaml:"sql"`
}

// sqlcEntry is an element of its list.
type sqlcEntry struct {
	Engine  string `yaml:"engine"`
	Schema  paths  `yaml:"schema"`
	Queries paths  `yaml:"queries"`
	Gen     struct {
		Go *struct {
			Package    string `yaml:"package"`
			Out        string `yaml:"out"`
			SQLPackage string `yaml:"sql_package"`
		} `yaml:"go"`
		JSON *struct {
			Out      string `yaml:"out"`
			Filename string `yaml:"filename"`
		} `yaml:"json"`
	} `yaml:"gen"`
}

// OmitsUnusedStructs reports whether sqlc emits structs only for the tables
// that a query uses.
func (e *Entry) OmitsUnusedStructs() bool {
	gen, _ := e.raw["gen"].(map[string]any)
	golang, _ := gen["go"].(map[string]any)
	omits, _ := golang["omit_unused_structs"].(bool)
	return omits
}

// paths is a path, or a list of them.
type paths []string

// UnmarshalYAML reads both forms.
func (p *paths) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*p = paths{n.Value}
		return nil
	}
	var list []string
	err := n.Decode(&list)
	*p = list
	return err
}

// readEntries reads every sqlc file; entries of other engines and drivers are
// passed over.
func readEntries(opts Options, diags *diag.List) []*Entry {
	var out []*Entry
	for _, file := range opts.Configs {
		text, err := opts.Tree.Read(file)
		if err != nil {
			diags.Errorf(diag.SqlcConfig, opts.place("sqlc", file, diag.Pos{File: file}), "the sqlc file %s can't be read: %v", file, cause(err)).
				Hint("%s", fileHint(opts, file))
			continue
		}
		out = append(out, fileEntries(opts, file, text, diags)...)
	}
	onePackage(out, diags)
	setAliases(out)
	return out
}

// onePackage refuses two entries that write one package: the second's files
// would take the place of the first's.
func onePackage(entries []*Entry, diags *diag.List) {
	first := map[string]*Entry{}
	for _, e := range entries {
		if other, ok := first[e.Out]; ok {
			diags.Errorf(diag.SqlcConfig, e.outPos, "this entry writes the package in %s, and so does the one at %s", e.Out, other.Pos).
				Hint("give each an `out:` of its own; or make them one entry: queries: [%s]", strings.Join(joined(other.Queries, e.Queries), ", "))
			continue
		}
		first[e.Out] = e
	}
}

// fileHint is the way out for a sqlc file that can't be read: another one that
// is there.
func fileHint(opts Options, file string) string {
	for _, dir := range []string{path.Dir(file), ".", "*", "*/*"} {
		for _, name := range []string{"sqlc.yaml", "sqlc.yml", "sqlc.json"} {
			found, err := opts.Tree.Glob(path.Join(dir, name))
			if err == nil && len(found) > 0 && found[0] != file {
				return "did you mean " + found[0] + "?"
			}
		}
	}
	return "name it under `sqlc:` in idemgen.yaml, by its path from there; `idemgen init --existing` writes one"
}

// joined are the elements of two lists, each once.
func joined(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func fileEntries(opts Options, file string, text []byte, diags *diag.List) []*Entry {
	doc, ok := parseFile(file, text, diags)
	if !ok {
		return nil
	}
	var out []*Entry
	for i := range doc.SQL {
		node := &doc.SQL[i]
		pos := diag.Pos{File: file, Line: node.Line, Col: node.Column}
		if e := readEntry(opts, file, pos, node, text, diags); e != nil {
			out = append(out, e)
		}
	}
	if len(out) == 0 && !diags.HasErrors() {
		noEntry(file, doc, diags)
	}
	return out
}

// noEntry says what the entries have in place of PostgreSQL and pgx v5.
func noEntry(file string, doc sqlcFile, diags *diag.List) {
	if len(doc.SQL) == 0 {
		diags.Errorf(diag.SqlcConfig, diag.Pos{File: file, Line: 1, Col: 1}, "no entry with engine postgresql and sql_package pgx/v5").
			Hint("add one under `sql:`, with `gen: {go: {package: db, out: internal/db, sql_package: pgx/v5}}`")
		return
	}
	for i := range doc.SQL {
		var e sqlcEntry
		if doc.SQL[i].Decode(&e) != nil {
			continue
		}
		pos := diag.Pos{File: file, Line: doc.SQL[i].Line, Col: doc.SQL[i].Column}
		has, hint := otherDriver(&e)
		diags.Errorf(diag.SqlcConfig, pos, "no entry with engine postgresql and sql_package pgx/v5: this one has %s", has).Hint("%s", hint)
	}
}

// otherDriver is what an entry has, and what it needs instead.
func otherDriver(e *sqlcEntry) (has, hint string) {
	switch {
	case e.Engine == "":
		return "no engine", "add `engine: postgresql`"
	case e.Engine != "postgresql":
		return "engine " + e.Engine, "idemgen works with PostgreSQL: add an entry with `engine: postgresql`"
	case e.Gen.Go == nil:
		return "no `gen: go:`", "add `gen: {go: {package: db, out: internal/db, sql_package: pgx/v5}}`"
	case e.Gen.Go.SQLPackage == "":
		return "no sql_package, which is sqlc's default database/sql", "idemgen works with pgx v5: add `sql_package: pgx/v5` under `gen: go:`"
	}
	return "sql_package " + e.Gen.Go.SQLPackage, "idemgen works with pgx v5: write `sql_package: pgx/v5` under `gen: go:`"
}

func parseFile(file string, text []byte, diags *diag.List) (sqlcFile, bool) {
	var doc sqlcFile
	if err := yaml.Unmarshal(text, &doc); err != nil {
		what, pos := wrongKind(file, text, err)
		if what == "" {
			what, pos = "the sqlc file is not valid YAML: "+plain(err), diag.Pos{File: file, Line: lineOf(err), Col: 1}
		}
		diags.Errorf(diag.SqlcConfig, pos, "%s", what).
			Hint("a sqlc file has `version: \"2\"` and under `sql:` a list of entries; `sqlc compile` shows what sqlc itself says about it")
		return doc, false
	}
	if doc.Version == "" {
		diags.Errorf(diag.SqlcConfig, diag.Pos{File: file, Line: 1, Col: 1}, "the sqlc file has no `version`").
			Hint("begin it with `version: \"2\"`, and write the entries under `sql:`; `idemgen init --existing` writes one")
		return doc, false
	}
	if doc.Version != "2" {
		at := find(text, "version")
		at.File = file
		diags.Errorf(diag.SqlcConfig, at, "the sqlc file has version %q; idemgen reads version 2", doc.Version).
			Hint("write `version: \"2\"` and move `packages:` to `sql:` as in https://docs.sqlc.dev/en/latest/reference/config.html")
		return doc, false
	}
	return doc, true
}

func readEntry(opts Options, file string, pos diag.Pos, node *yaml.Node, text []byte, diags *diag.List) *Entry {
	e, raw, ok := decodeEntry(file, pos, node, text, diags)
	if !ok {
		return nil
	}
	if e.Engine != "postgresql" || e.Gen.Go == nil || e.Gen.Go.SQLPackage != "pgx/v5" {
		return nil
	}
	if e.Gen.Go.Out == "" {
		diags.Errorf(diag.SqlcConfig, keyPos(file, node, pos, "gen", "go"), "gen.go has no `out`").Hint("add `out: internal/db`")
		return nil
	}
	base := path.Dir(file)
	entry := &Entry{ConfigFile: file, Pos: pos, Out: path.Join(base, e.Gen.Go.Out), raw: raw,
		Schema: below(base, e.Schema), Queries: below(base, e.Queries)}
	entry.outPos = keyPos(file, node, pos, "gen", "go", "out")
	entry.Package.Name = e.Gen.Go.Package
	if entry.Package.Name == "" {
		entry.Package.Name = path.Base(entry.Out)
	}
	if j := e.Gen.JSON; j != nil {
		name := j.Filename
		if name == "" {
			name = "codegen_request.json"
		}
		entry.json = path.Join(base, j.Out, name)
	}
	at := func(keys ...string) diag.Pos { return keyPos(file, node, pos, keys...) }
	if !token.IsIdentifier(entry.Package.Name) {
		diags.Errorf(diag.SqlcConfig, keyPos(file, node, entry.outPos, "gen", "go", "package"), "%q can't be the name of a Go package", entry.Package.Name).
			Hint("write `package: db` under `gen: go:`")
		return nil
	}
	if !resolve(opts, entry, at, diags) {
		return nil
	}
	return entry
}

// decodeEntry reads an entry as far as idemgen knows it, and as it stands.
func decodeEntry(file string, pos diag.Pos, node *yaml.Node, text []byte, diags *diag.List) (sqlcEntry, map[string]any, bool) {
	var e sqlcEntry
	raw := map[string]any{}
	if err := node.Decode(&e); err != nil {
		if what, at := wrongKind(file, text, err); what != "" {
			diags.Errorf(diag.SqlcConfig, at, "%s", what).Hint("`sqlc compile` shows what sqlc itself says about it")
			return e, nil, false
		}
		diags.Errorf(diag.SqlcConfig, pos, "this entry can't be read: %s", plain(err)).Hint("`sqlc compile` shows what sqlc itself says about it")
		return e, nil, false
	}
	if err := node.Decode(&raw); err != nil {
		diags.Errorf(diag.SqlcConfig, pos, "this entry can't be read: %s", plain(err)).Hint("its keys must be words")
		return e, nil, false
	}
	return e, raw, true
}

// resolve finds an entry's files and its import path.
func resolve(opts Options, e *Entry, at func(...string) diag.Pos, diags *diag.List) bool {
	var err error
	e.Package.Import, err = opts.Tree.Module.ImportPath(opts.Tree.Abs(e.Out))
	if err != nil {
		diags.Errorf(diag.SqlcConfig, e.outPos, "gen.go writes to %s, outside of the module %s", e.Out, opts.Tree.Module.Path).
			Hint("idemgen.yaml and what sqlc emits for it belong into one module")
		return false
	}
	if err := opts.Tree.CheckFolder(e.Out); err != nil {
		diags.Errorf(diag.SqlcConfig, e.outPos, "sqlc can't write to %s: %v", e.Out, err).
			Hint("choose a folder of its own inside the module, like internal/db; or move what is there")
		return false
	}
	for _, key := range []string{"schema", "queries"} {
		if list := map[string][]string{"schema": e.Schema, "queries": e.Queries}[key]; len(list) == 0 {
			diags.Errorf(diag.SqlcConfig, e.Pos, "the entry has no `%s`", key).Hint("add `%s: db/%s`", key, map[string]string{"schema": "migrations", "queries": "queries"}[key])
			return false
		}
	}
	if e.SchemaFiles, err = opts.Tree.SQL(e.Schema); err != nil {
		diags.Errorf(diag.SqlcConfig, at("schema"), "`schema` names %s, which can't be read: %v", strings.Join(e.Schema, ", "), cause(err)).
			Hint("make the folder with a first goose migration, or correct the path")
		return false
	}
	if e.QueryFiles, err = opts.Tree.SQL(e.Queries); err != nil {
		diags.Errorf(diag.SqlcConfig, at("queries"), "`queries` names %s, which can't be read: %v", strings.Join(e.Queries, ", "), cause(err)).
			Hint("make the folder with a first query, or correct the path")
		return false
	}
	slices.Sort(e.QueryFiles)
	if len(e.QueryFiles) == 0 {
		diags.Errorf(diag.SqlcConfig, at("queries"), "there is no .sql file in %s", strings.Join(e.Queries, ", ")).
			Hint("add one with a query: `-- name: CreatePayment :one`, `-- @http POST /v1/payments`, and its INSERT … RETURNING")
		return false
	}
	return true
}

func below(base string, list []string) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p
		if !path.IsAbs(p) {
			out[i] = path.Join(base, p)
		}
	}
	return out
}

// setAliases gives packages of one name different names in emitted code, made
// of their folders: stock/db and pay/db become stockdb and paydb; a/stock/db and
// b/stock/db astockdb and bstockdb.
func setAliases(entries []*Entry) {
	imports := map[string]map[string]bool{}
	for _, e := range entries {
		if imports[e.Package.Name] == nil {
			imports[e.Package.Name] = map[string]bool{}
		}
		imports[e.Package.Name][e.Package.Import] = true
	}
	for _, e := range entries {
		if all := imports[e.Package.Name]; len(all) > 1 {
			e.alias = aliasOf(e.Package, all)
		} else if path.Base(e.Package.Import) != e.Package.Name {
			e.alias = e.Package.Name
		}
	}
}

// aliasOf is the name of a package with as many of its folders as tell it
// apart from the other ones.
func aliasOf(p model.GoPackage, imports map[string]bool) string {
	for n := 1; ; n++ {
		alias, more := folderName(p.Import, n)
		same := 0
		for other := range imports {
			if name, _ := folderName(other, n); name == alias {
				same++
			}
		}
		if same == 1 || !more {
			return alias + p.Name
		}
	}
}

// folderName joins the last n folders above a package, and says whether there
// are more.
func folderName(importPath string, n int) (string, bool) {
	elements := strings.Split(path.Dir(importPath), "/")
	more := len(elements) > n
	if more {
		elements = elements[len(elements)-n:]
	}
	words := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(strings.Join(elements, "")))
	return strings.TrimLeft(words, "0123456789"), more
}

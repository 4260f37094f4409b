package sqlcrun

import (
	"cmp"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// OmitsUnusedStructs reports whether sqlc emits structs only for the tables
// that a query uses.
func (e *Entry) OmitsUnusedStructs() bool {
	gen, _ := e.raw["gen"].(map[string]any)
	golang, _ := gen["go"].(map[string]any)
	omits, _ := golang["omit_unused_structs"].(bool)
	return omits
}

// MethodsTakeDB reports whether the emitted methods take the connection as an
// argument, and New takes none.
func (e *Entry) MethodsTakeDB() bool {
	gen, _ := e.raw["gen"].(map[string]any)
	golang, _ := gen["go"].(map[string]any)
	takes, _ := golang["emit_methods_with_db_argument"].(bool)
	return takes
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
	var own diag.List
	defer func() { diags.Add(own.Sorted()...) }()
	doc, ok := readFile(file, text, &own)
	if !ok {
		return nil
	}
	var out []*Entry
	for i := range doc.entries {
		if e := readEntry(opts, file, &doc.entries[i], &own); e != nil {
			e.file = doc.raw
			out = append(out, e)
		}
	}
	if len(out) == 0 && !own.HasErrors() {
		noEntry(doc, &own)
	}
	return out
}

// noEntry says what the entries have in place of PostgreSQL and pgx v5.
func noEntry(doc sqlcFile, diags *diag.List) {
	if len(doc.entries) == 0 {
		diags.Errorf(diag.SqlcConfig, doc.pos, "no entry with engine postgresql and sql_package pgx/v5").
			Hint("add one under `sql:`, with `gen: {go: {package: db, out: internal/db, sql_package: pgx/v5}}`")
		return
	}
	for _, e := range doc.entries {
		has, hint := otherDriver(e)
		diags.Errorf(diag.SqlcConfig, e.pos, "no entry with engine postgresql and sql_package pgx/v5: this one has %s", has).Hint("%s", hint)
	}
}

// otherDriver is what an entry has, and what it needs instead.
func otherDriver(e sqlcEntry) (has, hint string) {
	switch {
	case e.engine == "":
		return "no engine", "add `engine: postgresql`"
	case e.engine != "postgresql":
		return "engine " + e.engine, "idemgen works with PostgreSQL: add an entry with `engine: postgresql`"
	case e.golang == nil:
		return "no `gen: go:`", "add `gen: {go: {package: db, out: internal/db, sql_package: pgx/v5}}`"
	case e.golang.driver.Value == "":
		return "no sql_package, which is sqlc's default database/sql", "idemgen works with pgx v5: add `sql_package: pgx/v5` under `gen: go:`"
	}
	return "sql_package " + e.golang.driver.Value, "idemgen works with pgx v5: write `sql_package: pgx/v5` under `gen: go:`"
}

// readEntry is an entry with all that it names; nil if it is not for PostgreSQL
// and pgx v5, or after an error.
func readEntry(opts Options, file string, e *sqlcEntry, diags *diag.List) *Entry {
	golang := e.golang
	if e.engine != "postgresql" || golang == nil || golang.driver.Value != "pgx/v5" {
		return nil
	}
	if golang.out.Value == "" {
		diags.Errorf(diag.SqlcConfig, golang.pos, "gen.go has no `out`").Hint("add `out: internal/db`")
		return nil
	}
	base := path.Dir(file)
	entry := &Entry{ConfigFile: file, Pos: e.pos, Out: path.Join(base, golang.out.Value), raw: e.raw, outPos: golang.out.Pos,
		Schema: below(base, e.schema.list), Queries: below(base, e.queries.list)}
	entry.Package.Name = golang.name.Value
	if entry.Package.Name == "" {
		entry.Package.Name, golang.name.Pos = path.Base(entry.Out), entry.outPos
	}
	if e.json != nil {
		entry.json = path.Join(base, e.json.folder, cmp.Or(e.json.file, "codegen_request.json"))
	}
	if !token.IsIdentifier(entry.Package.Name) {
		diags.Errorf(diag.SqlcConfig, golang.name.Pos, "%q can't be the name of a Go package", entry.Package.Name).
			Hint("write `package: db` under `gen: go:`")
		return nil
	}
	if !resolve(opts, entry, e, diags) {
		return nil
	}
	return entry
}

// resolve finds an entry's files and its import path.
func resolve(opts Options, e *Entry, written *sqlcEntry, diags *diag.List) bool {
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
		diags.Errorf(diag.SqlcConfig, written.schema.pos, "`schema` names %s, which can't be read: %v", strings.Join(e.Schema, ", "), cause(err)).
			Hint("make the folder with a first goose migration, or correct the path")
		return false
	}
	if e.QueryFiles, err = opts.Tree.SQL(e.Queries); err != nil {
		diags.Errorf(diag.SqlcConfig, written.queries.pos, "`queries` names %s, which can't be read: %v", strings.Join(e.Queries, ", "), cause(err)).
			Hint("make the folder with a first query, or correct the path")
		return false
	}
	slices.Sort(e.QueryFiles)
	if len(e.QueryFiles) == 0 {
		diags.Errorf(diag.SqlcConfig, written.queries.pos, "there is no .sql file in %s", strings.Join(e.Queries, ", ")).
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

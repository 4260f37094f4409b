package sqlcrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
)

const (
	minimal = "version: \"2\"\nsql:\n  - engine: postgresql\n    schema: m\n    queries: q\n    gen:\n      go: {package: db, out: db, sql_package: pgx/v5}\n"
	table   = "-- +goose Up\nCREATE TABLE t (id bigint PRIMARY KEY, name text NOT NULL);\n"
	query   = "-- name: Get :one\nSELECT name FROM t WHERE id = @id;\n"
)

// service makes a module with the given files.
func service(t *testing.T, have map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	have["go.mod"] = "module example.com/s\n"
	for name, text := range have {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, full, []byte(text))
	}
	tree, err := files.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return Options{Tree: tree, Configs: []string{"sqlc.yaml"}}
}

// TestEntriesHints: the way out names what is there.
func TestEntriesHints(t *testing.T) {
	entry := func(rest string) string { return "version: \"2\"\nsql:\n  - schema: m\n    queries: q\n" + rest }
	for name, c := range map[string]struct {
		have          map[string]string
		at, has, hint string
	}{
		"another suffix": {map[string]string{"sqlc.yml": minimal}, "sqlc.yaml:", "can't be read", "did you mean sqlc.yml?"},
		"another folder": {map[string]string{"db/sqlc.yaml": minimal}, "sqlc.yaml:", "can't be read", "did you mean db/sqlc.yaml?"},
		"nothing there":  {map[string]string{"x": ""}, "sqlc.yaml:", "can't be read", "idemgen init --existing"},
		"no entry":       {map[string]string{"sqlc.yaml": "version: \"2\"\n"}, "sqlc.yaml:1:1:", "no entry", "add one under `sql:`"},
		"no engine":      {map[string]string{"sqlc.yaml": entry("")}, "sqlc.yaml:3:5:", "has no engine", "engine: postgresql"},
		"mysql":          {map[string]string{"sqlc.yaml": entry("    engine: mysql\n")}, "sqlc.yaml:3:5:", "has engine mysql", "engine: postgresql"},
		"no Go":          {map[string]string{"sqlc.yaml": entry("    engine: postgresql\n")}, "sqlc.yaml:3:5:", "has no `gen: go:`", "pgx/v5"},
		"no driver":      {map[string]string{"sqlc.yaml": strings.Replace(minimal, ", sql_package: pgx/v5", "", 1)}, "sqlc.yaml:3:5:", "default database/sql", "add `sql_package: pgx/v5`"},
		"pgx/v4":         {map[string]string{"sqlc.yaml": strings.Replace(minimal, "pgx/v5", "pgx/v4", 1)}, "sqlc.yaml:3:5:", "has sql_package pgx/v4", "write `sql_package: pgx/v5`"},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.List
			Entries(service(t, c.have), &diags)
			ds := diags.Sorted()
			if len(ds) != 1 || !strings.HasPrefix(ds[0].Error(), c.at) || !strings.Contains(ds[0].Message, c.has) || !strings.Contains(ds[0].Hint, c.hint) {
				t.Errorf("got %v, want %s %s (%s)", ds, c.at, c.has, c.hint)
			}
		})
	}
}

func TestEntriesRefusals(t *testing.T) {
	ok := map[string]string{"m/1.sql": table, "q/q.sql": query}
	for name, c := range map[string]struct {
		yaml string
		drop string
		want string // file:line:col and a part of the message
	}{
		"no file":            {"", "", "sqlc.yaml: error[IDEM006]: the sqlc file sqlc.yaml can't be read"},
		"version 1":          {"# mine\nversion: \"1\"\npackages: []\n", "", "sqlc.yaml:2:11: error[IDEM006]: the sqlc file has version \"1\""},
		"no YAML":            {"version: \"2\"\nsql: [\n", "", "sqlc.yaml:3:1: error[IDEM001]: not valid YAML"},
		"another driver":     {strings.Replace(minimal, "pgx/v5", "database/sql", 1), "", "sqlc.yaml:3:5: error[IDEM006]: no entry with engine postgresql and sql_package pgx/v5: this one has sql_package database/sql"},
		"no out":             {strings.Replace(minimal, "out: db, ", "", 1), "", "sqlc.yaml:7:11: error[IDEM006]: gen.go has no `out`"},
		"outside":            {strings.Replace(minimal, "out: db", "out: ../db", 1), "", "sqlc.yaml:7:30: error[IDEM006]: gen.go writes to ../db, outside of the module example.com/s"},
		"no migrations":      {minimal, "m/1.sql", "sqlc.yaml:4:13: error[IDEM006]: `schema` names m, which can't be read"},
		"no query file":      {strings.Replace(minimal, "queries: q", "queries: m/*.txt", 1), "", "sqlc.yaml:5:14: error[IDEM006]: there is no .sql file in m/*.txt"},
		"one package twice":  {minimal + strings.TrimPrefix(minimal, "version: \"2\"\nsql:\n"), "", "sqlc.yaml:12:30: error[IDEM006]: this entry writes the package in db, and so does the one at sqlc.yaml:3:5"},
		"an entry as a word": {"version: \"2\"\nsql:\n  - postgresql\n", "", "sqlc.yaml:3:5: error[IDEM006]: the sqlc file has a single value where a mapping is wanted"},
		"entries as a word":  {"version: \"2\"\nsql: x\n", "", "sqlc.yaml:2:6: error[IDEM006]: the sqlc file has a single value where a list is wanted"},
		"a file as a word":   {"hello\n", "", "sqlc.yaml:1:1: error[IDEM006]: the sqlc file has a single value where a mapping is wanted"},
		"schema as a map":    {strings.Replace(minimal, "schema: m", "schema: {a: b}", 1), "", "sqlc.yaml:4:13: error[IDEM006]: the sqlc file has a mapping where a list is wanted"},
		"package as a list":  {strings.Replace(minimal, "package: db", "package: [db]", 1), "", "sqlc.yaml:7:21: error[IDEM006]: the sqlc file has a list where a single value is wanted"},
		"a list in a list":   {strings.Replace(minimal, "schema: m", "schema: [m, [n]]", 1), "", "sqlc.yaml:4:17: error[IDEM006]: the sqlc file has a list where a single value is wanted"},
		"gen as a list":      {strings.NewReplacer("gen:\n      go:", "gen: [go]", " {package: db, out: db, sql_package: pgx/v5}", "").Replace(minimal), "", "sqlc.yaml:6:10: error[IDEM006]: the sqlc file has a list where a mapping is wanted"},
		"a key twice":        {strings.Replace(minimal, "schema: m", "schema: m\n    schema: n", 1), "", "sqlc.yaml:5:5: error[IDEM002]: \"schema\" stands twice"},
		"a key twice, below": {strings.Replace(minimal, "out: db,", "out: db, rename: {a: B, a: C},", 1), "", "sqlc.yaml:7:1: error[IDEM001]: not valid YAML: mapping key \"a\" already defined"},
		"nothing":            {"# mine\n", "", "sqlc.yaml:1:1: error[IDEM004]: the file is empty"},
		"no version":         {strings.Replace(minimal, "version: \"2\"\n", "", 1), "", "sqlc.yaml:1:1: error[IDEM006]: the sqlc file has no `version`"},
		"no schema":          {strings.Replace(minimal, "    schema: m\n", "", 1), "", "sqlc.yaml:3:5: error[IDEM006]: the entry has no `schema`"},
		"no queries":         {strings.Replace(minimal, "    queries: q\n", "", 1), "", "sqlc.yaml:3:5: error[IDEM006]: the entry has no `queries`"},
		"no Go name":         {strings.Replace(minimal, "package: db", "package: 1db", 1), "", "sqlc.yaml:7:21: error[IDEM006]: \"1db\" can't be the name of a Go package"},
		"out is a file":      {strings.Replace(minimal, "out: db", "out: go.mod", 1), "", "sqlc.yaml:7:30: error[IDEM006]: sqlc can't write to go.mod: go.mod is a file"},
	} {
		t.Run(name, func(t *testing.T) {
			have := map[string]string{}
			for k, v := range ok {
				if k != c.drop {
					have[k] = v
				}
			}
			if c.yaml != "" {
				have["sqlc.yaml"] = c.yaml
			}
			var diags diag.List
			Entries(service(t, have), &diags)
			ds := diags.Sorted()
			if len(ds) == 0 || !strings.HasPrefix(ds[0].Error(), c.want) || ds[0].Hint == "" {
				t.Errorf("got %v, want %s, with a hint", ds, c.want)
			}
		})
	}
}

// Keys without a value are as good as none, lists and single paths are the same,
// and aliases are followed; the entry that sqlc gets has all of them.
func TestEntriesFollowWhatYAMLOffers(t *testing.T) {
	text := `version: 2
plugins:
sql:
  - <<: &shared {engine: postgresql, schema: [m]}
    queries: q
    codegen:
    gen:
      json:
      go: &go {package: db, out: db, sql_package: pgx/v5, rename: {a: B}}
  - <<: *shared
    queries: [q]
    gen: {go: {<<: *go, out: other/db}, json: {out: j}}
`
	var diags diag.List
	entries := Entries(service(t, map[string]string{"m/1.sql": table, "q/q.sql": query, "sqlc.yaml": text}), &diags)
	if err := diags.Err(); err != nil || len(entries) != 2 {
		t.Fatal(len(entries), err)
	}
	for i, want := range []string{"db  4:5 9:34", "other/db j/codegen_request.json 10:5 12:30"} {
		e := entries[i]
		got := fmt.Sprintf("%s %s %d:%d %d:%d", e.Out, e.json, e.Pos.Line, e.Pos.Col, e.outPos.Line, e.outPos.Col)
		if got != want || len(e.SchemaFiles) != 1 || len(e.QueryFiles) != 1 {
			t.Errorf("got %s, want %s; %v %v", got, want, e.SchemaFiles, e.QueryFiles)
		}
		gen, _ := e.raw["gen"].(map[string]any)
		if golang, _ := gen["go"].(map[string]any); golang["rename"] == nil || e.raw["engine"] != "postgresql" {
			t.Errorf("sqlc gets %v", e.raw)
		}
	}
}

func TestSqlcErrorsNameTheUsersFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	for name, c := range map[string]struct {
		have map[string]string
		want []string
	}{
		"queries": {
			map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "q/q.sql": query + "-- name: Get :one\nSELECT 1;\n-- name: Bad :one\nSELECT nope FROM t;\n"},
			[]string{"q/q.sql:4:1: error[IDEM005]: sqlc: duplicate query name: Get", "q/q.sql:6:8: error[IDEM005]: sqlc: column \"nope\" does not exist"},
		},
		"ambiguous": {
			map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "q/q.sql": query + "-- name: Bad :one\nWITH f AS (SELECT id FROM t WHERE id = @id) UPDATE t SET id = f.id FROM f WHERE id = f.id RETURNING t.id;\n"},
			[]string{"q/q.sql:4:35: error[IDEM005]: sqlc: column reference \"id\" is ambiguous"},
		},
		"migration": {
			map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "m/2.sql": "-- +goose Up\nALTER TABLE nope ADD x int;\n", "q/q.sql": query},
			[]string{"m/2.sql:1:1: error[IDEM005]: sqlc: relation \"nope\" does not exist"},
		},
		"edited text": {
			map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "q/q.sql": query + "-- name: Bad :one\nSELECT id FROM t WHERE id = @x::numeric(12,2)::int;\n"},
			[]string{"q/q.sql: error[IDEM005]: sqlc: edited query syntax is invalid"},
		},
		"generation": {
			map[string]string{"sqlc.yaml": strings.Replace(minimal, "package: db,", "package: db, overrides: [{db_type: text, go_type: a b c}],", 1), "m/1.sql": table, "q/q.sql": query},
			[]string{"sqlc.yaml:1:1: error[IDEM005]: sqlc: Package override"},
		},
		"config": {
			map[string]string{"sqlc.yaml": strings.Replace(minimal, "package: db", "emit_nonsense: true", 1), "m/1.sql": table, "q/q.sql": query},
			[]string{"sqlc.yaml:7:12: error[IDEM005]: sqlc: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts := service(t, c.have)
			var diags diag.List
			if _, err := Run(context.Background(), opts, entriesOf(t, opts), &diags); err != nil {
				t.Fatal(err)
			}
			ds := diags.Sorted()
			if len(ds) != len(c.want) {
				t.Fatalf("got %v", ds)
			}
			for i, d := range ds {
				if !strings.HasPrefix(d.Error(), c.want[i]) || d.Hint == "" {
					t.Errorf("got %v, hint %q; want %s", d, d.Hint, c.want[i])
				}
				if name == "ambiguous" && !strings.Contains(d.Hint, "payments.id") {
					t.Errorf("the way out of an ambiguous column: %q", d.Hint)
				}
			}
		})
	}
}

// TestNamesThatSqlcTakes: a plain argument may have no name that the emitted
// code has another use for.
func TestNamesThatSqlcTakes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	forms := map[string]string{
		"one": "SELECT id, name FROM t WHERE name = @%s;", "many": "SELECT id, name FROM t WHERE name = @%s;",
		"exec": "DELETE FROM t WHERE name = @%s;", "execrows": "DELETE FROM t WHERE name = @%s;",
		"batchexec": "DELETE FROM t WHERE name = @%s;", "copyfrom": "INSERT INTO t (name) VALUES (@%s);",
	}
	taken := map[string]string{ // as the Go compiler says
		"ctx": "batchexec copyfrom exec execrows many one", "err": "exec execrows many one", "row": "one", "i": "one",
		"rows": "many", "items": "many", "result": "execrows", "batch": "batchexec", "string": "copyfrom", "nil": "execrows many",
		"id": "", "q": "", "name": "", "a": "",
	}
	var text strings.Builder
	for name := range taken {
		for command, sql := range forms {
			fmt.Fprintf(&text, "-- name: Q_%s_%s :%s\n"+sql+"\n", name, command, command, name)
		}
	}
	opts := service(t, map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "q/q.sql": text.String()})
	var diags diag.List
	out, err := Run(context.Background(), opts, entriesOf(t, opts), &diags)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags.Sorted())
	}
	got := map[string][]string{}
	for _, q := range out.Queries {
		if q.Params[0].Taken != "" {
			parts := strings.Split(q.Name, "_")
			got[parts[1]] = append(got[parts[1]], parts[2])
		}
	}
	for name, want := range taken {
		slices.Sort(got[name])
		if joined := strings.Join(got[name], " "); joined != want {
			t.Errorf("%s: taken in %q, want %q", name, joined, want)
		}
	}
}

// TestPendingMigrationsAreSeen: what this run will write is in the Go that
// sqlc emits now, else a second run would differ. Folder names with glob
// characters are taken literally.
func TestPendingMigrationsAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	opts := service(t, map[string]string{"sub[1]/sqlc.yaml": minimal, "sub[1]/m/1.sql": table, "sub[1]/m/3.sql": "-- +goose Up\nALTER TABLE u ADD z int;\n",
		"sub[1]/q/q.sql": query, "sub[1]/go.mod": "module example.com/s\n"})
	tree, err := files.Open(opts.Tree.Abs("sub[1]"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	opts.Tree = tree
	opts.Pending = []files.File{{Path: "m/2.sql", Content: []byte("-- +goose Up\nCREATE TABLE u (x int);\n")}, {Path: "elsewhere/9.sql", Content: []byte("nonsense")}}
	var diags diag.List
	out, err := Run(context.Background(), opts, entriesOf(t, opts), &diags)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags.Sorted())
	}
	if models := string(out.Files["db/models.go"]); !strings.Contains(models, "type U struct") || !strings.Contains(models, "Z pgtype.Int4") {
		t.Errorf("the pending migration is not in\n%s", models)
	}
}

func TestNoSqlcReadsWhatIsThere(t *testing.T) {
	yaml := strings.Replace(minimal, "    gen:\n", "    gen:\n      json: {out: .sqlc}\n", 1)
	source := "// Code generated by sqlc. DO NOT EDIT.\n\npackage db\n\nimport \"context\"\n\nfunc (q *Queries) Get(ctx context.Context, id int64) (string, error) { return \"\", nil }\n"
	json := `{"sqlc_version": "v1.31.1", "queries": [{"text": "SELECT name FROM t WHERE id = $1", "name": "Get", "cmd": ":one", "filename": "q.sql",
		"columns": [{"name": "name", "not_null": true, "type": {"name": "text"}}],
		"params": [{"number": 1, "column": {"name": "id", "not_null": true, "type": {"name": "pg_catalog.int8"}}}]}]}`
	all := map[string]string{"sqlc.yaml": yaml, "m/1.sql": table, "q/q.sql": query, "db/q.sql.go": source, ".sqlc/codegen_request.json": json}
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"all there":      {func(map[string]string) {}, ""},
		"no json entry":  {func(m map[string]string) { m["sqlc.yaml"] = minimal }, "sqlc.yaml:3:5: error[IDEM006]: --no-sqlc needs sqlc's JSON"},
		"no json file":   {func(m map[string]string) { delete(m, ".sqlc/codegen_request.json") }, "sqlc.yaml:3:5: error[IDEM006]: --no-sqlc needs .sqlc/codegen_request.json"},
		"no package":     {func(m map[string]string) { delete(m, "db/q.sql.go") }, "sqlc.yaml:3:5: error[IDEM007]: --no-sqlc needs the package in db"},
		"older package":  {func(m map[string]string) { m["db/q.sql.go"] = strings.Replace(source, ") Get(", ") Fetch(", 1) }, "sqlc.yaml:3:5: error[IDEM007]: query Get: no method Get in package db"},
		"broken package": {func(m map[string]string) { m["db/q.sql.go"] = source + "}" }, "sqlc.yaml:3:5: error[IDEM007]: what sqlc emitted can't be read"},
		"broken json":    {func(m map[string]string) { m[".sqlc/codegen_request.json"] = "{" }, "sqlc.yaml:3:5: error[IDEM005]: sqlc's JSON can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			have := map[string]string{}
			for k, v := range all {
				have[k] = v
			}
			c.change(have)
			opts := service(t, have)
			opts.NoSqlc = true
			opts.Command = []string{"/nonexistent/sqlc"}
			var diags diag.List
			out, err := Run(context.Background(), opts, entriesOf(t, opts), &diags)
			if err != nil {
				t.Fatal(err)
			}
			ds := diags.Sorted()
			if c.want != "" {
				if len(ds) != 1 || !strings.HasPrefix(ds[0].Error(), c.want) || ds[0].Hint == "" {
					t.Fatalf("got %v, want %s", ds, c.want)
				}
				return
			}
			if len(ds) > 0 || string(out.Files["db/q.sql.go"]) != source || len(out.Queries) != 1 || out.Queries[0].Params[0].GoType.Expr != "int64" {
				t.Errorf("got %v, %v", ds, out.Queries)
			}
		})
	}
}

func TestSqlcThatCannotRunIsNoDiagnostic(t *testing.T) {
	opts := service(t, map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "q/q.sql": query})
	opts.Command = []string{"sh", "-c", "echo 'go: no network' >&2; exit 1"}
	var diags diag.List
	_, err := Run(context.Background(), opts, entriesOf(t, opts), &diags)
	if err == nil || diags.HasErrors() || !strings.Contains(err.Error(), "go: no network\ninstall sqlc") {
		t.Errorf("got %v, %v", err, diags.Sorted())
	}
}

// TestWrongCommandPointsAtTheConfiguration: a program that is not there is an
// error of the file that names it.
func TestWrongCommandPointsAtTheConfiguration(t *testing.T) {
	for _, program := range []string{"/nonexistent/sqlc", "nonexistent-sqlc"} {
		opts := service(t, map[string]string{"sqlc.yaml": minimal, "m/1.sql": table, "q/q.sql": query})
		opts.Command = []string{program, "--flag"}
		opts.Place = func(key, value string) diag.Pos { return diag.Pos{File: key + " " + value, Line: 3, Col: 7} }
		var diags diag.List
		_, err := Run(context.Background(), opts, entriesOf(t, opts), &diags)
		ds := diags.Sorted()
		if err != nil || len(ds) != 1 || !strings.HasPrefix(ds[0].Error(), "command "+program+":3:7: error[IDEM003]") || !strings.Contains(ds[0].Hint, "leave `command:` out") {
			t.Errorf("got %v, %v", err, ds)
		}
	}
}

// TestAliases: packages of one name are told apart by as many folders as it
// takes.
func TestAliases(t *testing.T) {
	var entries []*Entry
	for _, p := range []string{"x/a/stock/db", "x/b/stock/db", "x/pay/db"} {
		entries = append(entries, &Entry{Package: model.GoPackage{Name: "db", Import: p}})
	}
	setAliases(entries)
	var got []string
	for _, e := range entries {
		got = append(got, e.alias)
	}
	if want := "astockdb bstockdb paydb"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestWhichSqlc(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	tool := files.Module{Tools: []string{sqlcPackage}}
	for _, c := range []struct {
		configured []string
		module     files.Module
		want       string
	}{
		{[]string{"docker", "run", "sqlc"}, tool, "docker run sqlc"},
		{nil, tool, "go tool sqlc"},
		{nil, files.Module{}, "go run " + Pinned},
	} {
		if got := strings.Join(command(c.configured, c.module), " "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

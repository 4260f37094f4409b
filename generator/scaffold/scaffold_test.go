package scaffold

import (
	"errors"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
)

func folder(t *testing.T, have map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "My-Shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range have {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNewWritesAModule(t *testing.T) {
	dir := folder(t, nil)
	if _, err := New(dir, Options{Version: "v0.1.0", Checkout: "/src/idemgen"}); err != nil {
		t.Fatal(err)
	}
	mod := read(t, dir, "go.mod")
	for _, want := range []string{"module example.com/my-shop\n", "tool github.com/idemgen/idemgen/cmd/idemgen\n", "idemgen v0.1.0\n", "replace github.com/idemgen/idemgen => /src/idemgen\n"} {
		if !strings.Contains(mod, want) {
			t.Errorf("go.mod lacks %q:\n%s", want, mod)
		}
	}
	main := read(t, dir, "main.go")
	formatted, err := format.Source([]byte(main))
	if err != nil {
		t.Fatal(err)
	}
	if string(formatted) != main {
		t.Error("main.go is not gofmt's")
	}
	if !strings.Contains(main, `"example.com/my-shop/internal/api"`) || !strings.Contains(main, "//go:generate go tool idemgen generate\n") {
		t.Error("main.go lacks its import or its go:generate line")
	}
	if !strings.Contains(read(t, dir, "idemgen.yaml"), "service: my-shop ") {
		t.Error("the service has another name")
	}
}

func TestNewInAnEmptyModuleKeepsItsGoMod(t *testing.T) {
	dir := folder(t, map[string]string{"go.mod": "module acme.io/x\n"})
	made, err := New(dir, Options{Version: "v0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "go.mod"); got != "module acme.io/x\n" {
		t.Errorf("go.mod became %q", got)
	}
	if !strings.Contains(read(t, dir, "main.go"), `"acme.io/x/internal/api"`) {
		t.Error("main.go imports another module")
	}
	if !strings.Contains(read(t, dir, "idemgen.yaml"), "service: x ") {
		t.Error("the service is not named after its module")
	}
	if !strings.HasPrefix(made.Next[0], "go get -tool ") {
		t.Errorf("the first step is %q", made.Next[0])
	}
}

func TestNewRefusesAFolderWithCode(t *testing.T) {
	dir := folder(t, map[string]string{"go.mod": "module x\n", "main.go": "package main\n"})
	_, err := New(dir, Options{})
	if !errors.Is(err, ErrHasCode) || !strings.Contains(err.Error(), "--existing") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "idemgen.yaml")); err == nil {
		t.Error("a file was written")
	}
}

const sqlcYAML = `version: "2"
sql:
  - {engine: postgresql, schema: schema, queries: sql, gen: {go: {package: store, out: internal/store, sql_package: pgx/v5}}}
`

func TestExistingFitsWhatIsThere(t *testing.T) {
	goose := "-- +goose Up\nCREATE TABLE t (account_id text NOT NULL);\n"
	for name, c := range map[string]struct {
		have map[string]string
		want []string // in idemgen.yaml
		line string   // file with the go:generate line, "" for none
		text string   // in it
	}{
		"sqlc and migrations": {
			map[string]string{"sqlc.yaml": sqlcYAML, "schema/1_t.sql": goose, "sql/q.sql": "", "main.go": "package main\n"},
			[]string{"sqlc: [sqlc.yaml]", "migrations: schema\n", "scope: caller.account_id ", "bind: {account_id: caller.account_id}", "out: internal/api\n"},
			"generate.go", "package main\n\n//go:generate go tool idemgen generate\n",
		},
		"sqlc in a folder, no package in the root": {
			map[string]string{"db/sqlc.yaml": sqlcYAML, "db/schema/1_t.sql": goose, "db/sql/q.sql": ""},
			[]string{"sqlc: [db/sqlc.yaml]", "migrations: db/schema\n"},
			"internal/api/generate.go", "package api\n\n//go:generate go tool idemgen -C ../.. generate\n",
		},
		"no sqlc": {
			map[string]string{"deploy/migrations/1_t.sql": goose, "main.go": "package main\n\n//go:generate go tool idemgen generate\n"},
			[]string{"sqlc: [sqlc.yaml]", "migrations: deploy/migrations\n"},
			"", "",
		},
		"internal/api is taken": {
			map[string]string{"sqlc.yaml": sqlcYAML, "schema/1_t.sql": goose, "sql/q.sql": "", "internal/api/api.go": "package api\n"},
			[]string{"package: idemapi\n", "out: internal/idemapi\n"},
			"internal/idemapi/generate.go", "-C ../.. generate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.have["go.mod"] = "module acme.io/x\n"
			dir := folder(t, c.have)
			if _, err := Existing(dir, Options{}); err != nil {
				t.Fatal(err)
			}
			yaml := read(t, dir, "idemgen.yaml")
			for _, want := range c.want {
				if !strings.Contains(yaml, want) {
					t.Errorf("idemgen.yaml lacks %q:\n%s", want, yaml)
				}
			}
			if c.line == "" {
				if _, err := os.Stat(filepath.Join(dir, "generate.go")); err == nil {
					t.Error("a second go:generate line")
				}
			} else if got := read(t, dir, c.line); !strings.Contains(got, c.text) {
				t.Errorf("%s is\n%s", c.line, got)
			}
			for name, text := range c.have {
				if read(t, dir, name) != text {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func TestExistingRefusals(t *testing.T) {
	var failure *diag.Failure
	for name, c := range map[string]struct {
		have map[string]string
		want any
	}{
		"no module":      {map[string]string{"x": ""}, files.ErrNoModule},
		"database/sql":   {map[string]string{"go.mod": "module x\n", "sqlc.yaml": strings.ReplaceAll(sqlcYAML, "pgx/v5", "database/sql")}, &failure},
		"sqlc version 1": {map[string]string{"go.mod": "module x\n", "sqlc.yaml": "version: \"1\"\npackages: []\n"}, &failure},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.have)
			_, err := Existing(dir, Options{})
			if target, ok := c.want.(error); ok && !errors.Is(err, target) || !ok && !errors.As(err, c.want) {
				t.Fatalf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "idemgen.yaml")); err == nil {
				t.Error("a file was written")
			}
		})
	}
}

// TestExistingScope: only a column that most tables have says whose a row is.
func TestExistingScope(t *testing.T) {
	table := func(name, columns string) string { return "CREATE TABLE " + name + " (" + columns + ");\n" }
	for name, c := range map[string]struct{ sql, want, next string }{
		"all tables": {table("a", "id int, tenant_id text") + table("b", "tenant_id text"), "scope: caller.tenant_id ", "tenant_id was found in 2 of 2 tables"},
		"most":       {table("orgs", "id int") + table("a", "org_id int") + table("b", "org_id int, user_id int"), "scope: caller.org_id ", "org_id was found in 2 of 3 tables"},
		"few":        {table("a", "id int") + table("b", "id int") + table("c", "user_id int"), "scope: caller.CHANGE_ME # the column that says whose a row is\n", "No column was found"},
		"a comment":  {"-- no tenant_id here\n" + table("a", "id int, tenant_id_note text"), "scope: caller.CHANGE_ME ", "Write scope:"},
		"dropped":    {table("a", "id int, tenant_id text") + "ALTER TABLE a DROP COLUMN tenant_id;\n", "scope: caller.CHANGE_ME ", "Write scope:"},
		"runtime":    {table("a", "tenant_id text") + "CREATE SCHEMA idem;\n" + table("idem.k1", "x int") + table("idem.k2", "x int"), "scope: caller.tenant_id ", "1 of 1 tables"},
		"no tables":  {"", "scope: caller.CHANGE_ME ", "Write scope:"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"go.mod": "module acme.io/loans/v2\n", "sqlc.yaml": sqlcYAML, "schema/1_t.sql": "-- +goose Up\n" + c.sql, "sql/q.sql": ""})
			made, err := Existing(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			yaml := read(t, dir, "idemgen.yaml")
			if !strings.Contains(yaml, c.want) || !strings.Contains(yaml, "service: loans ") {
				t.Errorf("want %q in\n%s", c.want, yaml)
			}
			var diags diag.List
			config.Parse("idemgen.yaml", []byte(yaml), "acme.io/loans/v2", &diags)
			if stops := strings.Contains(c.want, "CHANGE_ME"); stops != diags.HasErrors() || stops && len(diags.Sorted()) != 1 {
				t.Errorf("reading it gives %v", diags.Sorted())
			}
			next := strings.Join(made.Next, "\n")
			if !strings.Contains(next, c.next) || !strings.Contains(next, "omit_unused_structs") {
				t.Errorf("want %q and omit_unused_structs in\n%s", c.next, next)
			}
		})
	}
}

func TestNextWithACheckout(t *testing.T) {
	const edit = "go mod edit -replace '" + module + "=/my src/idemgen' -require=" + module + "@v0.1.0 -tool=" + tool
	opts := Options{Version: "v0.1.0", Checkout: "/my src/idemgen"}
	mod := map[string]string{"go.mod": "module acme.io/x\n"}
	made, err := New(folder(t, mod), opts)
	if err != nil || made.Next[0] != edit+" && go mod tidy" {
		t.Errorf("in a module: %v, %v", made, err)
	}
	if made, err = Existing(folder(t, mod), opts); err != nil || made.Next[0] != edit+" && go mod tidy" {
		t.Errorf("--existing: %v, %v", made, err)
	}
	opts.NoGenerate = true
	made, err = New(folder(t, mod), opts)
	if err != nil || made.Next[0] != edit || !strings.HasPrefix(made.Next[1], "go mod tidy -e ") || made.Next[2] != "go generate ." || made.Next[3] != "go mod tidy" {
		t.Errorf("--no-generate: %v, %v", made.Next, err)
	}
	if made, err = New(folder(t, nil), opts); err != nil || !strings.HasPrefix(made.Next[0], "go mod tidy -e ") {
		t.Errorf("--no-generate in an empty folder: %v, %v", made, err)
	}
}

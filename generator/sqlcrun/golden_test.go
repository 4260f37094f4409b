package sqlcrun

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
)

var update = flag.Bool("update", false, "run sqlc and rewrite the recorded files and goldens")

const project = "testdata/project"

func projectOptions(t *testing.T) Options {
	t.Helper()
	tree, err := files.Open(project)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return Options{Tree: tree, Configs: []string{"sqlc.yaml"}}
}

func entriesOf(t *testing.T, opts Options) []*Entry {
	t.Helper()
	var diags diag.List
	entries := Entries(opts, &diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestGoldenTypes reads what a real sqlc made of the project under every
// option that changes the shape of its Go, and compares the types with the
// golden file. Without -update it needs no sqlc: its output is recorded.
func TestGoldenTypes(t *testing.T) {
	opts := projectOptions(t)
	entries := entriesOf(t, opts)
	if *update {
		record(t, opts, entries)
	}
	var diags diag.List
	var b strings.Builder
	for i, e := range entries {
		queries, version := join(e, recorded(t, i), &diags)
		fmt.Fprintf(&b, "== %s as %s, sqlc %s\n", e.Package.Import, e.Package.Name, version)
		for _, q := range queries {
			dump(&b, q)
		}
	}
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/types.golden", b.String())
}

// TestRealSqlcGivesTheSame runs sqlc for the whole project and compares with
// the same golden file.
func TestRealSqlcGivesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	opts := projectOptions(t)
	var diags diag.List
	out, err := Run(context.Background(), opts, entriesOf(t, opts), &diags)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags.Sorted())
	}
	var b strings.Builder
	for _, e := range out.Entries {
		fmt.Fprintf(&b, "== %s as %s, sqlc %s\n", e.Package.Import, e.Package.Name, out.Version)
		for _, q := range out.Queries {
			if q.Entry == e {
				dump(&b, q)
			}
		}
	}
	golden(t, "testdata/types.golden", b.String())
	for _, name := range []string{"plain/db/models.go", "pointers/db/batch.go", "pointers/db/bulk.sql.go", "overrides/customers-store/shop.sql.go"} {
		if len(out.Files[name]) == 0 {
			t.Errorf("%s was not emitted", name)
		}
	}
	if _, err := os.Stat(filepath.Join(project, "plain")); err == nil {
		t.Error("sqlc wrote into the tree")
	}
}

// record runs sqlc and keeps what it made, without its list of PostgreSQL's
// own functions.
func record(t *testing.T, opts Options, entries []*Entry) {
	t.Helper()
	g := &group{config: "sqlc.yaml", entries: entries}
	made, err := execute(context.Background(), opts, g)
	if err != nil || g.diags.HasErrors() {
		t.Fatal(err, g.diags.Sorted())
	}
	if err := os.RemoveAll("testdata/recorded"); err != nil {
		t.Fatal(err)
	}
	for i, m := range made {
		folder := fmt.Sprintf("testdata/recorded/%d", i)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, folder+"/request.json", trimmed(t, m.request))
		for name, text := range m.pkg {
			write(t, folder+"/"+name+".txt", text)
		}
	}
}

func trimmed(t *testing.T, request []byte) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(request, &doc); err != nil {
		t.Fatal(err)
	}
	catalog := doc["catalog"].(map[string]any)
	var kept []any
	for _, s := range catalog["schemas"].([]any) {
		schema := s.(map[string]any)
		if name := schema["name"]; name != "pg_catalog" && name != "information_schema" {
			kept = append(kept, s)
		}
	}
	catalog["schemas"] = kept
	delete(doc, "settings")
	delete(doc, "plugin_options")
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func recorded(t *testing.T, i int) emitted {
	t.Helper()
	folder := fmt.Sprintf("testdata/recorded/%d", i)
	m := emitted{pkg: map[string][]byte{}}
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutSuffix(e.Name(), ".go.txt"); ok {
			m.pkg[name+".go"] = text
		} else {
			m.request = text
		}
	}
	return m
}

func dump(b *strings.Builder, q *Query) {
	fmt.Fprintf(b, "%s :%s %s insert=%s comments=%q\n", q.Name, q.Command, q.File, q.Insert, q.Comments)
	for _, c := range q.Params {
		dumpColumn(b, "  in  ", c)
	}
	for _, c := range q.Columns {
		dumpColumn(b, "  out ", c)
		for _, f := range c.EmbedFields {
			dumpColumn(b, "      ", f)
		}
	}
}

func dumpColumn(b *strings.Builder, prefix string, c Column) {
	null := "null"
	if c.NotNull {
		null = "not null"
	}
	fmt.Fprintf(b, "%s%s %s array=%v %s table=%s embed=%q: %s %s %q\n", prefix, c.Name, c.TypeName, c.Array, null, c.Table, c.Embed, c.GoField, c.GoType.Expr, c.GoType.Imports)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		write(t, name, []byte(got))
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

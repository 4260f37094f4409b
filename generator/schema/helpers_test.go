package schema

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// mustBuild builds a catalog of one migration per text, and fails on any finding.
func mustBuild(t testing.TB, texts ...string) *Catalog {
	t.Helper()
	cat, diags := tryBuild(texts...)
	for _, d := range diags.Sorted() {
		t.Error(d.Error())
	}
	return cat
}

func tryBuild(texts ...string) (*Catalog, *diag.List) {
	var files []File
	for i, text := range texts {
		files = append(files, File{Path: "db/migrations/" + string(rune('a'+i)) + ".sql", Text: text})
	}
	diags := &diag.List{}
	return Build(files, diags), diags
}

func mustTable(t testing.TB, c *Catalog, name string) *Table {
	t.Helper()
	table := c.Table(model.TableName{Name: name})
	if schema, rest, ok := strings.Cut(name, "."); ok {
		table = c.Table(model.TableName{Schema: schema, Name: rest})
	}
	if table == nil {
		t.Fatalf("no table %s", name)
	}
	return table
}

func columnNames(t *Table) []string {
	var out []string
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

func uniqueNames(t *Table) []string {
	var out []string
	for _, u := range t.Uniques {
		out = append(out, u.Name)
	}
	return out
}

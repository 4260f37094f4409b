package importrules

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// row is a line of the table of docs/architecture.md: folders, and the packages
// of this module that they may import.
type row struct{ folders, imports []string }

var quoted = regexp.MustCompile("`([a-z/]+)`")

func rows(t *testing.T) (out []row) {
	t.Helper()
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		r := row{}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			r.folders = append(r.folders, own(strings.TrimSuffix(m[1], "/"))...)
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			r.imports = append(r.imports, own(m[1], "generator/"+m[1])...)
		}
		out = append(out, r)
	}
	return out
}

// of is the row with the nearest folder above a package, or of the package itself.
func of(table []row, path string) (nearest row) {
	longest := 0
	for _, r := range table {
		for _, folder := range r.folders {
			if under(path, folder) && len(folder) > longest {
				nearest, longest = r, len(folder)
			}
		}
	}
	return nearest
}

// Every package has a row, which names whatever of this module it imports.
func TestTheDocumentedTableHolds(t *testing.T) {
	table := rows(t)
	for path, p := range list(t) {
		if !under(path, module) || under(path, own("internal/importrules", "docs")...) {
			continue
		}
		r := of(table, path)
		if r.folders == nil {
			t.Errorf("%s has no row in docs/architecture.md", path)
		}
		for _, imported := range p.Imports {
			if under(imported, module) && !under(imported, r.imports...) && !under(imported, path) {
				t.Errorf("%s imports %s: docs/architecture.md does not say so", path, imported)
			}
		}
	}
}

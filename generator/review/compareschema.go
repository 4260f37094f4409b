package review

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// migrations looks at the files that are new, for indexes on tables that are
// not.
func (c *comparison) migrations(was, now *Document) {
	var fresh []Migration
	made := map[string]bool{}
	for _, m := range now.Migrations {
		i := slices.IndexFunc(was.Migrations, func(old Migration) bool { return base(old.File) == base(m.File) })
		if i >= 0 && m.Goose && was.Migrations[i].Text != m.Text {
			c.pos = diag.Pos{File: m.File, Line: 1, Col: 1}
			c.find("migration-edited", "%s is another text under the same name", m.File)
		}
		if i >= 0 || slices.ContainsFunc(was.Migrations, func(old Migration) bool { return old.Text == m.Text }) {
			continue // there, or renamed
		}
		fresh = append(fresh, m)
		for _, t := range m.Creates {
			made[bare(t)] = true
		}
	}
	for _, m := range fresh {
		c.pos = diag.Pos{File: m.File, Line: 1, Col: 1}
		for _, ix := range m.Indexes {
			c.built = append(c.built, ix.Name)
			if !made[bare(ix.Table)] {
				c.index(m, ix)
			}
		}
	}
	c.pos = diag.Pos{}
}

func (c *comparison) index(m Migration, ix Index) {
	what := "index"
	switch {
	case ix.Constraint:
		what = "constraint"
	case ix.Unique:
		what = "unique index"
	}
	id := "index-blocks"
	if ix.Concurrently {
		id = "index-concurrent"
	}
	c.find(id, "%s builds the %s %s on %s", m.File, what, nameOr(ix.Name, "(PostgreSQL names it)"), ix.Table)
}

// base is a file's name: folders move.
func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// bare is a table's name as most people write it.
func bare(table string) string { return strings.TrimPrefix(table, "public.") }

func (c *comparison) tables(was, now *Document) {
	for _, t := range now.Tables {
		i := slices.IndexFunc(was.Tables, func(old Table) bool { return old.Name == t.Name })
		if i < 0 {
			continue
		}
		old := was.Tables[i]
		for _, gone := range missing(old.Constraints, t.Constraints) {
			c.find("constraint-removed", "%s: %s is gone or another", t.Name, gone)
		}
		for _, added := range missing(t.Constraints, old.Constraints) {
			if name, _, _ := strings.Cut(added, ": "); slices.Contains(c.built, name) {
				continue // told of as an index
			}
			c.find("constraint-added", "%s: %s", t.Name, added)
		}
	}
}

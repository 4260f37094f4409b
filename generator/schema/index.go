package schema

import (
	"slices"
	"strconv"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// createIndex applies CREATE INDEX. Indexes that aren't unique are kept by
// name only, since default names avoid them.
func (b *builder) createIndex(stmt *pg.IndexStmt) {
	t := b.table(stmt.Relation, false)
	if t == nil {
		return
	}
	b.mentionIndex(t, stmt)
	name := stmt.Idxname
	if name != "" && b.indexes[model.TableName{Schema: t.Name.Schema, Name: name}] != nil {
		return // IF NOT EXISTS, or a mistake that the database will report
	}
	columns := indexColumns(stmt.IndexParams)
	if name == "" {
		name = chooseName(t.Name.Name, columnsAddition(columns), "idx", b.relationTaken(t.Name.Schema, false))
	}
	if !stmt.Unique {
		b.indexes[model.TableName{Schema: t.Name.Schema, Name: name}] = &index{table: t}
		return
	}
	u := &Unique{Name: name, File: b.lines.file, Columns: columns, NullsNotDistinct: stmt.NullsNotDistinct, where: clone(stmt.WhereClause)}
	if slices.ContainsFunc(stmt.IndexParams, func(n *pg.Node) bool { return n.GetIndexElem().GetExpr() != nil }) {
		u.Columns = nil
	}
	b.registerUnique(t, u, false)
	if !stmt.Relation.Inh { // ON ONLY: partitions attach theirs later
		return
	}
	for _, child := range t.history.children {
		if child.history.parent == t {
			b.addPartitionUnique(child, u)
		}
	}
}

// indexColumns names the parts of an index as PostgreSQL does: repeats are
// numbered.
func indexColumns(params []*pg.Node) []string {
	var out []string
	for _, p := range params {
		name := indexColumn(p.GetIndexElem())
		chosen := name
		for i := 1; slices.Contains(out, chosen); i++ {
			number := strconv.Itoa(i)
			chosen = clip(name, maxName-len(number)) + number
		}
		out = append(out, chosen)
	}
	return out
}

func indexColumn(e *pg.IndexElem) string {
	switch {
	case e.GetName() != "":
		return e.GetName()
	case figureName(e.GetExpr()) != "":
		return figureName(e.GetExpr())
	}
	return "expr"
}

// renameIndex renames an index and the constraint that it belongs to.
func (b *builder) renameIndex(from model.TableName, to string) {
	ix := b.indexes[from]
	if ix == nil {
		return
	}
	delete(b.indexes, from)
	b.indexes[model.TableName{Schema: from.Schema, Name: to}] = ix
	if ix.unique != nil {
		ix.unique.Name = to
	}
	replace(ix.table.Exclusions, from.Name, to)
}

func (b *builder) dropIndex(name model.TableName) {
	for full, ix := range b.indexes {
		if full.Name != name.Name || full.Schema != b.indexSchema(name) {
			continue
		}
		if ix.unique != nil {
			ix.table.dropUnique(ix.unique)
		}
		delete(b.indexes, full)
	}
}

// indexSchema is where an index of that name is found.
func (b *builder) indexSchema(name model.TableName) string {
	if name.Schema != "" {
		return name.Schema
	}
	for _, schema := range append(slices.Clone(b.path), defaultSchema) {
		if b.indexes[model.TableName{Schema: schema, Name: name.Name}] != nil {
			return schema
		}
	}
	return defaultSchema
}

package schema

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// rename applies ALTER … RENAME.
func (b *builder) rename(stmt *pg.RenameStmt) {
	switch stmt.RenameType {
	case pg.ObjectType_OBJECT_TYPE, pg.ObjectType_OBJECT_DOMAIN:
		b.setTypeName(qualified(texts(stmt.Object.GetList().GetItems())), func(n *model.TableName) { n.Name = stmt.Newname })
	case pg.ObjectType_OBJECT_DOMCONSTRAINT:
		if d, ok := find(b, b.domains, qualified(texts(stmt.Object.GetList().GetItems()))); ok {
			if c := d.check(stmt.Subname); c != nil {
				c.Name = stmt.Newname
			}
		}
	case pg.ObjectType_OBJECT_SCHEMA:
		b.renameSchema(stmt.Subname, stmt.Newname)
	case pg.ObjectType_OBJECT_ATTRIBUTE:
		if t, ok := find(b, b.others, rangeName(stmt.Relation)); ok {
			b.renameColumn(t, stmt.Subname, stmt.Newname)
		}
	default:
		b.renameOfRelation(stmt)
	}
}

func (b *builder) renameOfRelation(stmt *pg.RenameStmt) {
	name := rangeName(stmt.Relation)
	switch stmt.RenameType {
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW,
		pg.ObjectType_OBJECT_INDEX, pg.ObjectType_OBJECT_FOREIGN_TABLE:
		b.renameRelation(stmt, name)
		return
	case pg.ObjectType_OBJECT_COLUMN, pg.ObjectType_OBJECT_TABCONSTRAINT, pg.ObjectType_OBJECT_TRIGGER, pg.ObjectType_OBJECT_RULE:
	default:
		return
	}
	t := b.table(stmt.Relation, stmt.MissingOk)
	if t == nil {
		return
	}
	switch stmt.RenameType {
	case pg.ObjectType_OBJECT_COLUMN:
		b.renameColumnOf(t, stmt)
	case pg.ObjectType_OBJECT_TABCONSTRAINT:
		b.renameConstraint(t, stmt.Subname, stmt.Newname)
	case pg.ObjectType_OBJECT_TRIGGER:
		moveKey(t.history.triggers, stmt.Subname, stmt.Newname)
	case pg.ObjectType_OBJECT_RULE:
		moveKey(t.history.rules, stmt.Subname, stmt.Newname)
	}
}

func (b *builder) renameColumnOf(t *Table, stmt *pg.RenameStmt) {
	if t.Column(stmt.Subname) == nil {
		if !b.guarded && !t.Traits.View {
			b.diags.Errorf(diag.CatalogUnknown, b.pos(int(stmt.Relation.Location), len(stmt.Relation.Relname)),
				"no migration makes the column %s of %s", stmt.Subname, t.Name).
				Hint("check the name, and that a migration before this one adds it")
		}
		return
	}
	for _, member := range t.family() {
		b.renameColumn(member, stmt.Subname, stmt.Newname)
	}
}

// renameRelation renames a table, view or index; ALTER TABLE may rename all.
func (b *builder) renameRelation(stmt *pg.RenameStmt, name model.TableName) {
	if t, ok := find(b, b.tables, name); ok {
		b.setName(t, model.TableName{Schema: t.Name.Schema, Name: stmt.Newname})
		return
	}
	full := model.TableName{Schema: b.indexSchema(name), Name: name.Name}
	if b.indexes[full] != nil {
		b.renameIndex(full, stmt.Newname)
		return
	}
	if stmt.RenameType == pg.ObjectType_OBJECT_TABLE {
		b.table(stmt.Relation, stmt.MissingOk) // reports it
	}
}

func moveKey[T any](m map[string]T, from, to string) {
	if v, ok := m[from]; ok {
		delete(m, from)
		m[to] = v
	}
}

func (b *builder) renameSchema(from, to string) {
	for name, t := range b.tables {
		if name.Schema == from {
			b.setName(t, model.TableName{Schema: to, Name: name.Name})
		}
	}
	toSchema := func(n *model.TableName) { n.Schema = to }
	for name := range b.enums {
		if name.Schema == from {
			b.setTypeName(name, toSchema)
		}
	}
	for name := range b.domains {
		if name.Schema == from {
			b.setTypeName(name, toSchema)
		}
	}
	replace(b.cat.path, from, to)
}

// moveSchema applies ALTER … SET SCHEMA.
func (b *builder) moveSchema(stmt *pg.AlterObjectSchemaStmt) {
	if stmt.Relation != nil {
		if t, ok := find(b, b.tables, rangeName(stmt.Relation)); ok {
			b.setName(t, model.TableName{Schema: stmt.Newschema, Name: t.Name.Name})
		}
		return
	}
	switch stmt.ObjectType {
	case pg.ObjectType_OBJECT_TYPE, pg.ObjectType_OBJECT_DOMAIN:
		name := qualified(texts(stmt.Object.GetList().GetItems()))
		b.setTypeName(name, func(n *model.TableName) { n.Schema = stmt.Newschema })
	}
}

package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// Constraints and indexes that name what is not there: sqlc passes over them,
// and the migration would fail only when it is applied.

// mention is a table that a foreign key references and that isn't there yet.
type mention struct {
	table model.TableName
	pos   diag.Pos
}

// tableless are extensions that make no tables.
var tableless = []string{"pgcrypto", "uuid-ossp", "citext", "pg_trgm", "btree_gist", "btree_gin", "hstore", "unaccent", "ltree", "intarray",
	"cube", "earthdistance", "fuzzystrmatch", "tablefunc", "plpgsql", "pg_stat_statements", "vector"}

// noteOpaque notes statements that may make or change tables out of sight.
func (b *builder) noteOpaque(stmt *pg.Node) {
	switch n := stmt.Node.(type) {
	case *pg.Node_CreateExtensionStmt:
		b.opaque = b.opaque || !slices.Contains(tableless, n.CreateExtensionStmt.Extname)
	case *pg.Node_CallStmt, *pg.Node_ImportForeignSchemaStmt:
		b.opaque = true
	case *pg.Node_SelectStmt:
		b.opaque = b.opaque || b.cat.callsWriter(stmt)
	}
}

// mentionTable keeps a foreign key's table for the end, where all are known.
func (b *builder) mentionTable(rel *pg.RangeVar) {
	if !b.guarded {
		b.mentions = append(b.mentions, mention{rangeName(rel), b.pos(int(rel.GetLocation()), len(rel.GetRelname()))})
	}
}

// reportMentions reports foreign keys to tables that no migration ever makes.
// In a schema of which no migration makes a table, others do. Where no table
// has a name like it, somebody else may make it: a warning.
func (b *builder) reportMentions() {
	var names []string
	for name := range b.made {
		names = append(names, name.Name)
	}
	slices.Sort(names)
	for _, m := range b.mentions {
		if b.opaque || b.isMade(m.table) {
			continue
		}
		if near := diag.Nearest(m.table.Name, names); near != "" {
			b.diags.Errorf(diag.CatalogUnknown, m.pos, "no migration makes the table %s, which this foreign key references", m.table).
				Hint("did you mean %s?", near)
			continue
		}
		b.diags.Warnf(diag.CatalogUnknown, m.pos, "no migration makes the table %s, which this foreign key references", m.table).
			Hint("a migration before this one must create it; one that others create is named with its schema")
	}
}

// isMade reports whether a migration ever makes a table of that name, or the
// name's schema is not that of the migrations.
func (b *builder) isMade(name model.TableName) bool {
	ours := false
	for made := range b.made {
		if made.Name == name.Name && (name.Schema == "" || made.Schema == name.Schema) {
			return true
		}
		ours = ours || made.Schema == name.Schema
	}
	return name.Schema != "" && !ours
}

// systemColumns are in every table.
var systemColumns = []string{"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"}

// mentionColumn reports a column that the table doesn't have, unless the
// columns aren't all known.
func (b *builder) mentionColumn(t *Table, name, what string, pos diag.Pos) {
	if name == "" || b.opaque || b.guarded || t.loose || t.Column(name) != nil || slices.Contains(systemColumns, name) {
		return
	}
	entry := b.diags.Errorf(diag.CatalogUnknown, pos, "no migration makes the column %s of %s, which this %s names", name, t.Name, what)
	if near := diag.Nearest(name, tableColumns(t)); near != "" {
		entry.Hint("did you mean %s?", near)
	} else {
		entry.Hint("check the name, and that this migration or one before it adds the column")
	}
}

func tableColumns(t *Table) []string {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// mentionIn reports the unknown columns of an expression, once each. A
// reference to the table's own name is its whole row.
func (b *builder) mentionIn(t *Table, expr *pg.Node, what string) {
	places := map[string]int32{}
	sqltext.Walk(expr, func(m proto.Message) bool {
		ref, ok := m.(*pg.ColumnRef)
		if !ok {
			return true
		}
		_, name, star, _ := columnName(&pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: ref}})
		if at, seen := places[name]; !star && name != t.Name.Name && (!seen || ref.Location < at) {
			places[name] = ref.Location
		}
		return true
	})
	for name, at := range places {
		b.mentionColumn(t, name, what, b.pos(int(at), len(name)))
	}
}

// mentionConstraint reports what a constraint names.
func (b *builder) mentionConstraint(t *Table, c constraint) {
	if c.def == nil {
		return
	}
	at := b.pos(int(c.def.Location), 0)
	switch {
	case c.is(pg.ConstrType_CONSTR_CHECK):
		b.mentionIn(t, c.def.RawExpr, "CHECK")
	case c.is(pg.ConstrType_CONSTR_FOREIGN):
		b.mentionKeys(t, c.columns(), "foreign key", at)
		b.mentionReferenced(c.def, at)
	default:
		b.mentionKeys(t, c.columns(), "constraint", at)
		b.mentionKeys(t, texts(c.def.Including), "constraint", at)
	}
}

func (b *builder) mentionKeys(t *Table, names []string, what string, pos diag.Pos) {
	for _, name := range names {
		b.mentionColumn(t, name, what, pos)
	}
}

// mentionReferenced reports the table and columns that a foreign key references.
func (b *builder) mentionReferenced(def *pg.Constraint, at diag.Pos) {
	target, ok := find(b, b.tables, rangeName(def.Pktable))
	if !ok {
		b.mentionTable(def.Pktable)
		return
	}
	b.mentionKeys(target, texts(def.PkAttrs), "foreign key", at)
}

// mentionIndex reports the columns that an index names and its table lacks.
func (b *builder) mentionIndex(t *Table, stmt *pg.IndexStmt) {
	at := b.pos(int(stmt.Relation.GetLocation()), len(stmt.Relation.GetRelname()))
	for _, n := range slices.Concat(stmt.IndexParams, stmt.IndexIncludingParams) {
		b.mentionColumn(t, n.GetIndexElem().GetName(), "index", at)
		b.mentionIn(t, n.GetIndexElem().GetExpr(), "index")
	}
	b.mentionIn(t, stmt.WhereClause, "index")
}

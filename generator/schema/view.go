package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// createTableAs applies CREATE TABLE AS, CREATE MATERIALIZED VIEW and SELECT
// INTO: columns as far as they can be derived, no constraints.
func (b *builder) createTableAs(into *pg.IntoClause, query *pg.Node, ifNotExists, view bool) {
	t := b.newTable(into.GetRel(), ifNotExists)
	if t == nil {
		return
	}
	t.Traits.View, t.loose = view, true
	b.deriveColumns(t, query, texts(into.GetColNames()))
	for _, c := range t.Columns {
		c.NotNull = false
	}
}

// createView applies CREATE VIEW, also OR REPLACE.
func (b *builder) createView(stmt *pg.ViewStmt) {
	name := model.TableName{Schema: b.schemaOf(stmt.View.GetSchemaname()), Name: stmt.View.GetRelname()}
	if old := b.tables[name]; old != nil && stmt.Replace {
		old.Columns = nil
		b.linkView(old, stmt.Query)
		b.deriveColumns(old, stmt.Query, texts(stmt.Aliases))
		return
	}
	if t := b.newTable(stmt.View, false); t != nil {
		t.Traits.View, t.loose = true, true
		b.linkView(t, stmt.Query)
		b.deriveColumns(t, stmt.Query, texts(stmt.Aliases))
	}
}

// deriveColumns gives a view the columns of its query: those of tables with
// their types, casts with theirs, all others without one. Columns stay unknown
// where a star can't be resolved.
func (b *builder) deriveColumns(t *Table, query *pg.Node, aliases []string) {
	columns, ok := b.queryColumns(query.GetSelectStmt())
	if !ok {
		return
	}
	for i, c := range columns {
		if i < len(aliases) {
			c.Name = aliases[i]
		}
		c.Pos = t.Pos
	}
	t.Columns = columns
}

func (b *builder) queryColumns(q *pg.SelectStmt) ([]*Column, bool) {
	for q.GetLarg() != nil {
		q = q.GetLarg()
	}
	if q == nil || len(q.ValuesLists) > 0 {
		return nil, false
	}
	from, complete := b.fromTables(q)
	var out []*Column
	for _, n := range q.TargetList {
		target := n.GetResTarget()
		qualifier, name, star, isColumn := columnName(target.GetVal())
		switch {
		case star && !complete:
			return nil, false
		case star:
			out = append(out, starColumns(from, qualifier)...)
		default:
			c := &Column{Name: targetName(target)}
			if isColumn {
				if found := findColumn(from, qualifier, name); found != nil {
					c.ref, c.NotNull = found.ref, found.NotNull && len(from) == 1
				}
			}
			if cast := target.GetVal().GetTypeCast(); cast != nil {
				c.ref = typeOf(cast.TypeName, b.lookupType)
			}
			out = append(out, c)
		}
	}
	return out, true
}

// fromTable is a table in a FROM clause.
type fromTable struct {
	alias string
	table *Table
}

// fromTables lists the tables in a FROM clause; complete is false if there is
// anything else.
func (b *builder) fromTables(q *pg.SelectStmt) (out []fromTable, complete bool) {
	complete = true
	queue := slices.Clone(q.FromClause)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if j := n.GetJoinExpr(); j != nil {
			queue = append([]*pg.Node{j.Larg, j.Rarg}, queue...)
			complete = complete && len(j.UsingClause) == 0 && !j.IsNatural
			continue
		}
		t, ok := find(b, b.tables, rangeName(n.GetRangeVar()))
		if n.GetRangeVar() == nil || !ok {
			complete = false
			continue
		}
		alias := n.GetRangeVar().GetAlias().GetAliasname()
		if alias == "" {
			alias = t.Name.Name
		}
		out = append(out, fromTable{alias, t})
	}
	return out, complete
}

func starColumns(from []fromTable, qualifier string) []*Column {
	var out []*Column
	for _, f := range from {
		if qualifier != "" && qualifier != f.alias {
			continue
		}
		for _, c := range f.table.Columns {
			out = append(out, &Column{Name: c.Name, ref: c.ref, NotNull: c.NotNull && len(from) == 1})
		}
	}
	return out
}

func findColumn(from []fromTable, qualifier, name string) *Column {
	for _, f := range from {
		if qualifier != "" && qualifier != f.alias {
			continue
		}
		if c := f.table.Column(name); c != nil {
			return c
		}
	}
	return nil
}

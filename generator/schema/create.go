package schema

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// createTable applies CREATE TABLE.
func (b *builder) createTable(stmt *pg.CreateStmt) {
	t := b.newTable(stmt.Relation, stmt.IfNotExists)
	if t == nil {
		return
	}
	t.partitionBy(stmt.Partspec)
	t.loose = stmt.OfTypename != nil
	b.inherit(t, stmt)
	var pending []constraint
	for _, elt := range stmt.TableElts {
		switch n := elt.Node.(type) {
		case *pg.Node_ColumnDef:
			pending = append(pending, b.defineColumn(t, n.ColumnDef)...)
		case *pg.Node_Constraint:
			pending = append(pending, constraint{def: n.Constraint})
		case *pg.Node_TableLikeClause:
			pending = append(pending, b.like(t, n.TableLikeClause)...)
		}
	}
	for _, n := range stmt.Constraints {
		pending = append(pending, constraint{def: n.GetConstraint()})
	}
	b.addConstraints(t, pending)
	if t.history.parent != nil {
		for _, u := range t.history.parent.Uniques {
			b.addPartitionUnique(t, u)
		}
	}
}

// newTable registers a table, view or the like; nil if it is there already.
func (b *builder) newTable(rel *pg.RangeVar, ifNotExists bool) *Table {
	name := model.TableName{Schema: b.schemaOf(rel.GetSchemaname()), Name: rel.GetRelname()}
	pos := b.pos(int(rel.GetLocation()), len(rel.GetRelname()))
	if old := b.tables[name]; old != nil {
		if !ifNotExists && !b.guarded {
			b.diags.Errorf(diag.MigrationForm, pos, "the table %s exists already", name).
				Hint("an earlier migration made it, at %s", old.Pos)
		}
		return nil
	}
	t := &Table{Name: name, Pos: pos}
	b.tables[name], b.made[name] = t, true
	return t
}

// inherit copies what a table takes from its parents.
func (b *builder) inherit(t *Table, stmt *pg.CreateStmt) {
	for _, n := range stmt.InhRelations {
		parent := b.table(n.GetRangeVar(), false)
		if parent == nil {
			t.loose = true
			continue
		}
		t.loose = t.loose || parent.loose
		parent.history.children = append(parent.history.children, t)
		if stmt.Partbound != nil {
			t.history.parent = parent
		}
		for _, c := range parent.Columns {
			if t.Column(c.Name) == nil {
				t.Columns = append(t.Columns, copyColumn(c))
			}
		}
		for _, c := range parent.Checks {
			if t.check(c.Name) == nil {
				t.Checks = append(t.Checks, copyCheck(c))
			}
		}
	}
}

// defineColumn adds a column and returns the constraints written with it. A
// column that a parent gave is merged with it.
func (b *builder) defineColumn(t *Table, def *pg.ColumnDef) []constraint {
	c := t.Column(def.Colname)
	if c == nil {
		c = &Column{Name: def.Colname, Pos: b.pos(int(def.Location), len(def.Colname))}
		t.Columns = append(t.Columns, c)
	}
	if def.TypeName != nil { // PARTITION OF writes only options
		c.ref = typeOf(def.TypeName, b.lookupType)
		if c.ref.serial {
			c.NotNull, c.Default = true, serialDefault(t.Name.Name, c.Name)
		}
	}
	var out []constraint
	for _, n := range def.Constraints {
		con := n.GetConstraint()
		switch con.GetContype() {
		case pg.ConstrType_CONSTR_ATTR_DEFERRABLE:
			if len(out) > 0 {
				out[len(out)-1].deferrable = true
			}
		case pg.ConstrType_CONSTR_CHECK, pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE, pg.ConstrType_CONSTR_FOREIGN:
			out = append(out, constraint{def: con, column: c.Name})
		default:
			c.apply(con)
		}
	}
	return out
}

// apply sets a property of the column that isn't a constraint of the table.
func (c *Column) apply(con *pg.Constraint) {
	switch con.GetContype() {
	case pg.ConstrType_CONSTR_NOTNULL:
		c.NotNull = true
	case pg.ConstrType_CONSTR_DEFAULT:
		c.setDefault(con.RawExpr)
	case pg.ConstrType_CONSTR_GENERATED:
		c.setDefault(con.RawExpr)
		c.Generated = true
	case pg.ConstrType_CONSTR_IDENTITY:
		c.NotNull, c.Identity, c.Generated = true, true, con.GeneratedWhen == "a"
	}
}

func (c *Column) setDefault(expr *pg.Node) {
	c.Default, c.defaultExpr = "", expr
	if expr.GetAConst().GetIsnull() {
		c.defaultExpr = nil // DEFAULT NULL is none
	}
}

// Options of LIKE, as PostgreSQL numbers them.
const (
	likeConstraints = 1 << 2
	likeDefaults    = 1 << 3
	likeGenerated   = 1 << 4
	likeIdentity    = 1 << 5
	likeIndexes     = 1 << 6
)

// like copies the columns of another table and what its options name. Indexes
// get names of their own, after the table's own constraints.
func (b *builder) like(t *Table, clause *pg.TableLikeClause) []constraint {
	from := b.table(clause.Relation, false)
	if from == nil {
		t.loose = true
		return nil
	}
	t.loose = t.loose || from.loose
	for _, c := range from.Columns {
		col := copyColumn(c)
		switch with := clause.Options; {
		case c.Identity && with&likeIdentity == 0, c.Generated && !c.Identity && with&likeGenerated == 0:
			col.Identity, col.Generated, col.defaultExpr = false, false, nil
		case !c.Identity && !c.Generated && with&likeDefaults == 0:
			col.Default, col.defaultExpr = "", nil
		}
		t.Columns = append(t.Columns, col)
	}
	if clause.Options&likeConstraints != 0 {
		for _, c := range from.Checks {
			t.Checks = append(t.Checks, copyCheck(c))
		}
	}
	if clause.Options&likeIndexes == 0 {
		return nil
	}
	var out []constraint
	for _, u := range from.Uniques {
		out = append(out, constraint{copyOf: u, primary: u == from.Primary})
	}
	return out
}

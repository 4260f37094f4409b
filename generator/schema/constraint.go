package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// constraint is a constraint to be added: written with a column, for a table,
// or the copy of another table's index (LIKE).
type constraint struct {
	def        *pg.Constraint
	column     string // that it is written with
	deferrable bool

	copyOf  *Unique
	primary bool
}

func (c constraint) columns() []string {
	if c.column != "" {
		return []string{c.column}
	}
	if c.def.GetContype() == pg.ConstrType_CONSTR_FOREIGN {
		return texts(c.def.GetFkAttrs())
	}
	return texts(c.def.GetKeys())
}

func (c constraint) is(kind pg.ConstrType) bool { return c.def != nil && c.def.Contype == kind }

// addConstraints adds constraints in PostgreSQL's order, on which default
// names depend: checks, the primary key, other indexes, foreign keys.
func (b *builder) addConstraints(t *Table, pending []constraint) {
	for _, c := range pending {
		b.mentionConstraint(t, c)
		switch {
		case c.is(pg.ConstrType_CONSTR_CHECK):
			b.addCheck(t, c.def)
		case c.is(pg.ConstrType_CONSTR_NOTNULL):
			for _, name := range c.columns() {
				t.setNotNull(name, true)
			}
		}
	}
	b.addIndexConstraints(t, pending)
	for _, c := range pending {
		if c.is(pg.ConstrType_CONSTR_FOREIGN) {
			b.addForeignKey(t, c)
		}
	}
}

func (t *Table) setNotNull(column string, notNull bool) {
	for _, member := range t.family() {
		if c := member.Column(column); c != nil {
			c.NotNull = notNull
		}
	}
}

func (b *builder) addCheck(t *Table, def *pg.Constraint) {
	name := def.Conname
	if name == "" {
		column := ""
		if mentioned := columnsIn(def.RawExpr); len(mentioned) == 1 {
			column = mentioned[0]
		}
		name = chooseName(t.Name.Name, column, "check", b.constraintTaken(t.Name.Schema))
	}
	for _, member := range t.family() {
		if member == t || !def.IsNoInherit && member.check(name) == nil {
			member.Checks = append(member.Checks, &Check{Name: name, expr: clone(def.RawExpr)})
		}
	}
}

// addIndexConstraints adds primary key, unique and exclusion constraints. Of
// two that are the same in one statement PostgreSQL makes one index.
func (b *builder) addIndexConstraints(t *Table, pending []constraint) {
	var made []constraint
	for _, c := range pending {
		if c.is(pg.ConstrType_CONSTR_PRIMARY) || c.copyOf != nil && c.primary {
			made = append(made, c)
		}
	}
	for _, c := range pending {
		switch {
		case c.is(pg.ConstrType_CONSTR_UNIQUE) && !b.mergeUnique(made, c), c.is(pg.ConstrType_CONSTR_EXCLUSION),
			c.copyOf != nil && !c.primary:
			made = append(made, c)
		}
	}
	for _, c := range made {
		switch {
		case c.copyOf != nil:
			b.copyUnique(t, c.copyOf, c.primary)
		case c.is(pg.ConstrType_CONSTR_EXCLUSION):
			b.addExclusion(t, c.def)
		case c.def.Indexname != "":
			b.adoptIndex(t, c)
		default:
			b.addUniqueConstraint(t, c)
		}
	}
}

// mergeUnique reports whether an equal constraint comes before; it inherits
// the name of this one if it has none.
func (b *builder) mergeUnique(made []constraint, c constraint) bool {
	for _, m := range made {
		if m.def != nil && c.def.Indexname == "" && m.def.Indexname == "" &&
			slices.Equal(m.columns(), c.columns()) && m.isDeferrable() == c.isDeferrable() &&
			m.def.NullsNotDistinct == c.def.NullsNotDistinct && len(m.def.Including)+len(c.def.Including) == 0 {
			if m.def.Conname == "" {
				m.def.Conname = c.def.Conname
			}
			return true
		}
	}
	return false
}

func (c constraint) isDeferrable() bool { return c.deferrable || c.def.GetDeferrable() }

func (b *builder) addUniqueConstraint(t *Table, c constraint) {
	u := &Unique{Name: c.def.Conname, Columns: c.columns(), Constraint: true,
		NullsNotDistinct: c.def.NullsNotDistinct, Deferrable: c.isDeferrable()}
	b.registerUnique(t, u, c.is(pg.ConstrType_CONSTR_PRIMARY))
	for _, child := range t.history.children {
		if child.history.parent == t {
			b.addPartitionUnique(child, u)
		}
	}
}

// registerUnique names a unique constraint or index if it has no name, and
// adds it to the table.
func (b *builder) registerUnique(t *Table, u *Unique, primary bool) {
	if u.Name == "" {
		taken := b.relationTaken(t.Name.Schema, u.Constraint)
		switch {
		case primary:
			u.Name = chooseName(t.Name.Name, "", "pkey", taken)
		case u.Constraint:
			u.Name = chooseName(t.Name.Name, columnsAddition(u.Columns), "key", taken)
		default:
			u.Name = chooseName(t.Name.Name, columnsAddition(u.Columns), "idx", taken)
		}
	}
	t.Uniques = append(t.Uniques, u)
	b.indexes[model.TableName{Schema: t.Name.Schema, Name: u.Name}] = &index{t, u}
	if primary {
		t.Primary = u
		for _, name := range u.Columns {
			t.setNotNull(name, true)
		}
	}
}

// copyUnique makes another table's unique index for t, under a name of its own.
func (b *builder) copyUnique(t *Table, from *Unique, primary bool) {
	u := *from
	u.Name, u.Columns, u.where = "", slices.Clone(from.Columns), clone(from.where)
	b.registerUnique(t, &u, primary)
}

// addPartitionUnique gives a partition the index that its parent's needs,
// unless it has an equal one already.
func (b *builder) addPartitionUnique(t *Table, parent *Unique) {
	for _, u := range t.Uniques {
		if slices.Equal(u.Columns, parent.Columns) && u.Constraint == parent.Constraint && deparse(u.where) == deparse(parent.where) {
			return
		}
	}
	b.copyUnique(t, parent, t.history.parent != nil && t.history.parent.Primary == parent)
	for _, child := range t.history.children {
		b.addPartitionUnique(child, parent)
	}
}

// adoptIndex makes a constraint of a unique index that exists.
func (b *builder) adoptIndex(t *Table, c constraint) {
	u := t.unique(c.def.Indexname)
	if u == nil {
		b.diags.Errorf(diag.CatalogUnknown, b.pos(int(c.def.Location), 0),
			"no migration makes the unique index %s on %s", c.def.Indexname, t.Name).
			Hint("the index must be made before the constraint that uses it")
		return
	}
	if c.def.Conname != "" {
		b.renameIndex(model.TableName{Schema: t.Name.Schema, Name: u.Name}, c.def.Conname)
	}
	u.Constraint, u.Deferrable = true, c.isDeferrable()
	if c.is(pg.ConstrType_CONSTR_PRIMARY) {
		t.Primary = u
		for _, name := range u.Columns {
			t.setNotNull(name, true)
		}
	}
}

func (b *builder) addExclusion(t *Table, def *pg.Constraint) {
	name := def.Conname
	if name == "" {
		var columns []string
		for _, n := range def.Exclusions {
			if items := n.GetList().GetItems(); len(items) > 0 {
				columns = append(columns, indexColumn(items[0].GetIndexElem()))
			}
		}
		name = chooseName(t.Name.Name, columnsAddition(columns), "excl", b.relationTaken(t.Name.Schema, true))
	}
	t.Exclusions = append(t.Exclusions, name)
	b.indexes[model.TableName{Schema: t.Name.Schema, Name: name}] = &index{table: t}
}

func (b *builder) addForeignKey(t *Table, c constraint) {
	f := &ForeignKey{Name: c.def.Conname, Columns: c.columns(), References: rangeName(c.def.Pktable),
		RefColumns: texts(c.def.PkAttrs), Deferrable: c.isDeferrable(),
		Cascades: changesRows(c.def.FkDelAction) || changesRows(c.def.FkUpdAction)}
	if target, ok := find(b, b.tables, f.References); ok {
		f.References = target.Name
		if len(f.RefColumns) == 0 && target.Primary != nil {
			f.RefColumns = slices.Clone(target.Primary.Columns)
		}
	} else {
		f.References.Schema = b.schemaOf(f.References.Schema)
	}
	if f.Name == "" {
		f.Name = chooseName(t.Name.Name, columnsAddition(f.Columns), "fkey", b.constraintTaken(t.Name.Schema))
	}
	for _, member := range t.family() {
		if member == t || member.history.parent != nil {
			follower := *f
			follower.Columns, follower.RefColumns = slices.Clone(f.Columns), slices.Clone(f.RefColumns)
			member.ForeignKeys = append(member.ForeignKeys, &follower)
		}
	}
}

// changesRows reports whether a foreign key's action is CASCADE, SET NULL or SET
// DEFAULT.
func changesRows(action string) bool { return action == "c" || action == "n" || action == "d" }

// dropConstraint removes a constraint by name.
func (b *builder) dropConstraint(t *Table, name string) {
	t.Checks = slices.DeleteFunc(t.Checks, func(c *Check) bool { return c.Name == name })
	t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(f *ForeignKey) bool { return f.Name == name })
	t.Exclusions = slices.DeleteFunc(t.Exclusions, func(n string) bool { return n == name })
	if u := t.unique(name); u != nil && u.Constraint {
		t.dropUnique(u)
		delete(b.indexes, model.TableName{Schema: t.Name.Schema, Name: name})
	}
	for _, child := range t.history.children {
		child.Checks = slices.DeleteFunc(child.Checks, func(c *Check) bool { return c.Name == name })
	}
}

// renameConstraint renames a constraint and, where it has one, its index.
func (b *builder) renameConstraint(t *Table, from, to string) {
	for _, member := range t.family() {
		if c := member.check(from); c != nil {
			c.Name = to
		}
	}
	for _, f := range t.ForeignKeys {
		if f.Name == from {
			f.Name = to
		}
	}
	replace(t.Exclusions, from, to)
	if u := t.unique(from); u != nil && u.Constraint {
		b.renameIndex(model.TableName{Schema: t.Name.Schema, Name: from}, to)
	}
}

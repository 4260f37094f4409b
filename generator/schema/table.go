package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// history is what a table's later migrations need to know about it.
type history struct {
	children []*Table // partitions, or tables that inherit
	parent   *Table   // of a partition
	bases    []*Table // of a view: what its query reads
	unknown  bool     // a view whose query reads what no migration makes
	keys     []string // columns of a partition key
	keyExprs bool     // the partition key has an expression
	triggers map[string]trigger
	rules    map[string]bool
}

// trigger is what of a trigger decides a strategy.
type trigger struct{ row, statement bool }

// index is an index of any kind.
type index struct {
	table  *Table
	unique *Unique // nil for an index that isn't unique
}

// family is the table and all that follow its columns.
func (t *Table) family() []*Table {
	out := []*Table{t}
	for _, c := range t.history.children {
		out = append(out, c.family()...)
	}
	return out
}

// partitionBy notes the key by which a table is partitioned.
func (t *Table) partitionBy(spec *pg.PartitionSpec) {
	t.Traits.Partitioned = spec != nil
	for _, n := range spec.GetPartParams() {
		if name := n.GetPartitionElem().GetName(); name != "" {
			t.history.keys = append(t.history.keys, name)
		} else {
			t.history.keyExprs = true
		}
	}
}

// PartitionKey is what every unique index of the table must include: the
// columns by which the table and its partitions are partitioned. byExpression
// is set where one is partitioned by an expression: no unique index can then
// reach over its partitions.
func (t *Table) PartitionKey() (columns []string, byExpression bool) {
	for _, member := range t.family() {
		if member != t && member.history.parent == nil {
			continue // inherits only
		}
		byExpression = byExpression || member.history.keyExprs
		for _, name := range member.history.keys {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns, byExpression
}

func (t *Table) hasConstraint(name string) bool {
	return t.check(name) != nil ||
		slices.ContainsFunc(t.Uniques, func(u *Unique) bool { return u.Constraint && u.Name == name }) ||
		slices.ContainsFunc(t.ForeignKeys, func(f *ForeignKey) bool { return f.Name == name }) ||
		slices.Contains(t.Exclusions, name)
}

func (t *Table) check(name string) *Check { return checkNamed(t.Checks, name) }

func (d *Domain) check(name string) *Check { return checkNamed(d.Checks, name) }

func checkNamed(checks []*Check, name string) *Check {
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// unique finds a unique constraint or index by name.
func (t *Table) unique(name string) *Unique {
	for _, u := range t.Uniques {
		if u.Name == name {
			return u
		}
	}
	return nil
}

func (t *Table) dropUnique(u *Unique) {
	t.Uniques = slices.DeleteFunc(t.Uniques, func(x *Unique) bool { return x == u })
	if t.Primary == u {
		t.Primary = nil
	}
}

// dropColumn removes a column and, as PostgreSQL does, every constraint and
// index that mentions it.
func (b *builder) dropColumn(t *Table, name string) {
	t.Columns = slices.DeleteFunc(t.Columns, func(c *Column) bool { return c.Name == name })
	for _, u := range slices.Clone(t.Uniques) {
		if slices.Contains(u.Columns, name) || slices.Contains(columnsIn(u.where), name) {
			t.dropUnique(u)
			delete(b.indexes, model.TableName{Schema: t.Name.Schema, Name: u.Name})
		}
	}
	t.Checks = slices.DeleteFunc(t.Checks, func(c *Check) bool { return slices.Contains(columnsIn(c.expr), name) })
	t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(f *ForeignKey) bool { return slices.Contains(f.Columns, name) })
	b.dropReferences(t.Name, func(f *ForeignKey) bool { return slices.Contains(f.RefColumns, name) })
}

// dropReferences removes foreign keys to a table.
func (b *builder) dropReferences(to model.TableName, which func(*ForeignKey) bool) {
	for _, t := range b.tables {
		t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(f *ForeignKey) bool {
			return f.References == to && which(f)
		})
	}
}

// renameColumn renames a column wherever it is mentioned.
func (b *builder) renameColumn(t *Table, from, to string) {
	if c := t.Column(from); c != nil {
		c.Name = to
	}
	replace(t.history.keys, from, to)
	for _, u := range t.Uniques {
		replace(u.Columns, from, to)
		renameIn(u.where, from, to)
	}
	for _, c := range t.Checks {
		renameIn(c.expr, from, to)
	}
	for _, f := range t.ForeignKeys {
		replace(f.Columns, from, to)
	}
	for _, c := range t.Columns {
		if c.Generated && !c.Identity {
			renameIn(c.defaultExpr, from, to)
		}
	}
	for _, other := range b.tables {
		for _, f := range other.ForeignKeys {
			if f.References == t.Name {
				replace(f.RefColumns, from, to)
			}
		}
	}
}

func replace(names []string, from, to string) {
	for i, n := range names {
		if n == from {
			names[i] = to
		}
	}
}

// copyColumn is a column for a table that follows another one.
func copyColumn(c *Column) *Column {
	out := *c
	out.defaultExpr = clone(c.defaultExpr)
	return &out
}

func copyCheck(c *Check) *Check { return &Check{Name: c.Name, expr: clone(c.expr)} }

// setName moves a table to another name or schema, its indexes too.
func (b *builder) setName(t *Table, to model.TableName) {
	from := t.Name
	delete(b.tables, from)
	t.Name = to
	b.tables[to], b.made[to] = t, true
	for _, other := range b.tables {
		for _, f := range other.ForeignKeys {
			if f.References == from {
				f.References = to
			}
		}
	}
	if from.Schema == to.Schema {
		return
	}
	for name, ix := range b.indexes {
		if ix.table == t {
			delete(b.indexes, name)
			b.indexes[model.TableName{Schema: to.Schema, Name: name.Name}] = ix
		}
	}
}

// dropTable removes a table, its indexes, its partitions and foreign keys to it.
func (b *builder) dropTable(t *Table) {
	for _, child := range slices.Clone(t.history.children) {
		b.dropTable(child)
	}
	delete(b.tables, t.Name)
	for name, ix := range b.indexes {
		if ix.table == t {
			delete(b.indexes, name)
		}
	}
	b.dropReferences(t.Name, func(*ForeignKey) bool { return true })
	for _, other := range b.tables {
		other.history.children = slices.DeleteFunc(other.history.children, func(c *Table) bool { return c == t })
	}
}

// serialDefault is the default of a serial column.
func serialDefault(table, column string) string {
	return "nextval('" + objectName(table, column, "seq") + "'::regclass)"
}

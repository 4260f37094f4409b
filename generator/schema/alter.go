package schema

import (
	"cmp"
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
)

// alterTable applies ALTER TABLE and its kin.
func (b *builder) alterTable(stmt *pg.AlterTableStmt) {
	switch stmt.Objtype {
	case pg.ObjectType_OBJECT_TABLE, pg.ObjectType_OBJECT_FOREIGN_TABLE, pg.ObjectType_OBJECT_VIEW, pg.ObjectType_OBJECT_MATVIEW:
	case pg.ObjectType_OBJECT_TYPE:
		b.alterComposite(stmt)
		return
	default:
		return // indexes and sequences
	}
	t := b.table(stmt.Relation, stmt.MissingOk)
	if t == nil {
		return
	}
	cmds := make([]*pg.AlterTableCmd, len(stmt.Cmds))
	for i, n := range stmt.Cmds {
		cmds[i] = n.GetAlterTableCmd()
	}
	// PostgreSQL works in passes, whatever order the commands are written in.
	slices.SortStableFunc(cmds, func(x, y *pg.AlterTableCmd) int { return cmp.Compare(pass(x), pass(y)) })
	for _, cmd := range cmds {
		b.alterOne(t, cmd, stmt.Relation)
	}
}

func pass(cmd *pg.AlterTableCmd) int {
	switch cmd.Subtype {
	case pg.AlterTableType_AT_DropColumn, pg.AlterTableType_AT_DropConstraint, pg.AlterTableType_AT_DropNotNull:
		return 0
	case pg.AlterTableType_AT_AlterColumnType:
		return 1
	case pg.AlterTableType_AT_AddColumn:
		return 2
	case pg.AlterTableType_AT_AddConstraint, pg.AlterTableType_AT_AddIndex:
		return 4
	}
	return 3
}

func (b *builder) alterOne(t *Table, cmd *pg.AlterTableCmd, rel *pg.RangeVar) {
	switch cmd.Subtype {
	case pg.AlterTableType_AT_AddColumn:
		b.addColumn(t, cmd)
	case pg.AlterTableType_AT_DropColumn:
		for _, member := range t.family() {
			b.dropColumn(member, cmd.Name)
		}
	case pg.AlterTableType_AT_AddConstraint:
		con := cmd.Def.GetConstraint()
		if b.guarded && (t.hasConstraint(con.GetConname()) || t.Primary != nil && con.GetContype() == pg.ConstrType_CONSTR_PRIMARY) {
			return
		}
		b.addConstraints(t, []constraint{{def: con}})
	case pg.AlterTableType_AT_DropConstraint:
		b.dropConstraint(t, cmd.Name)
	case pg.AlterTableType_AT_AlterConstraint:
		t.alterConstraint(cmd)
	case pg.AlterTableType_AT_AttachPartition, pg.AlterTableType_AT_AddInherit,
		pg.AlterTableType_AT_DetachPartition, pg.AlterTableType_AT_DropInherit:
		b.changeParent(t, cmd)
	case pg.AlterTableType_AT_EnableRowSecurity, pg.AlterTableType_AT_ForceRowSecurity:
		t.Traits.RowSecurity = true
	case pg.AlterTableType_AT_DisableRowSecurity:
		t.Traits.RowSecurity = false
	default:
		b.alterColumn(t, cmd, rel)
	}
}

func (b *builder) addColumn(t *Table, cmd *pg.AlterTableCmd) {
	def := cmd.Def.GetColumnDef()
	if t.Column(def.Colname) != nil {
		if !cmd.MissingOk && !b.guarded {
			b.diags.Errorf(diag.MigrationForm, b.pos(int(def.Location), len(def.Colname)),
				"the column %s of %s exists already", def.Colname, t.Name).
				Hint("an earlier migration made it, at %s", t.Column(def.Colname).Pos)
		}
		return
	}
	pending := b.defineColumn(t, def)
	for _, member := range t.family()[1:] {
		if member.Column(def.Colname) == nil {
			member.Columns = append(member.Columns, copyColumn(t.Column(def.Colname)))
		}
	}
	b.addConstraints(t, pending)
}

// alterColumn applies what changes one column.
func (b *builder) alterColumn(t *Table, cmd *pg.AlterTableCmd, rel *pg.RangeVar) {
	change := columnChange(b, cmd)
	if change == nil {
		return
	}
	if t.Column(cmd.Name) == nil && !t.Traits.View {
		if !b.guarded {
			b.diags.Errorf(diag.CatalogUnknown, b.pos(int(rel.GetLocation()), len(rel.GetRelname())),
				"no migration makes the column %s of %s", cmd.Name, t.Name).
				Hint("check the name, and that a migration before this one adds it")
		}
		return
	}
	for _, member := range t.family() {
		if c := member.Column(cmd.Name); c != nil {
			change(c)
		}
	}
}

// columnChange is what a command does to a column, nil for nothing of interest.
func columnChange(b *builder, cmd *pg.AlterTableCmd) func(*Column) {
	switch cmd.Subtype {
	case pg.AlterTableType_AT_AlterColumnType:
		ref := typeOf(cmd.Def.GetColumnDef().GetTypeName(), b.lookupType)
		return func(c *Column) { c.ref = ref }
	case pg.AlterTableType_AT_ColumnDefault:
		return func(c *Column) { c.setDefault(cmd.Def) }
	case pg.AlterTableType_AT_SetNotNull:
		return func(c *Column) { c.NotNull = true }
	case pg.AlterTableType_AT_DropNotNull:
		return func(c *Column) { c.NotNull = false }
	case pg.AlterTableType_AT_SetExpression:
		return func(c *Column) { c.setDefault(cmd.Def) }
	case pg.AlterTableType_AT_DropExpression:
		return func(c *Column) { c.Generated, c.defaultExpr = false, nil }
	case pg.AlterTableType_AT_AddIdentity:
		return func(c *Column) { c.apply(cmd.Def.GetConstraint()) }
	case pg.AlterTableType_AT_DropIdentity:
		return func(c *Column) { c.Identity, c.Generated = false, false }
	case pg.AlterTableType_AT_SetIdentity:
		return func(c *Column) { c.setIdentity(cmd.Def.GetList().GetItems()) }
	}
	return nil
}

func (c *Column) setIdentity(options []*pg.Node) {
	for _, n := range options {
		if e := n.GetDefElem(); e.GetDefname() == "generated" {
			c.Generated = e.GetArg().GetInteger().GetIval() == 'a'
		}
	}
}

func (t *Table) alterConstraint(cmd *pg.AlterTableCmd) {
	def := cmd.Def.GetConstraint()
	name, deferrable := def.GetConname(), def.GetDeferrable()
	if alter := cmd.Def.GetAtalterConstraint(); alter != nil {
		if !alter.AlterDeferrability {
			return
		}
		name, deferrable = alter.Conname, alter.Deferrable
	}
	for _, f := range t.ForeignKeys {
		if f.Name == name {
			f.Deferrable = deferrable
		}
	}
}

// changeParent applies ATTACH and DETACH PARTITION, INHERIT and NO INHERIT.
func (b *builder) changeParent(t *Table, cmd *pg.AlterTableCmd) {
	parent, child := t, (*Table)(nil)
	partition := cmd.Def.GetPartitionCmd()
	if partition != nil {
		child = b.table(partition.Name, false)
	} else {
		parent, child = b.table(cmd.Def.GetRangeVar(), false), t
	}
	if parent == nil || child == nil {
		return
	}
	attach := cmd.Subtype == pg.AlterTableType_AT_AttachPartition || cmd.Subtype == pg.AlterTableType_AT_AddInherit
	if !attach {
		parent.history.children = slices.DeleteFunc(parent.history.children, func(x *Table) bool { return x == child })
		child.history.parent = nil
		return
	}
	parent.history.children = append(parent.history.children, child)
	if partition == nil {
		return
	}
	child.history.parent = parent
	for _, u := range parent.Uniques {
		b.addPartitionUnique(child, u)
	}
}

package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

func (b *builder) typeName(parts []*pg.Node) model.TableName {
	name := qualified(texts(parts))
	name.Schema = b.schemaOf(name.Schema)
	return name
}

func (b *builder) createEnum(stmt *pg.CreateEnumStmt) {
	name := b.typeName(stmt.TypeName)
	if b.guarded && b.enums[name] != nil {
		return
	}
	b.enums[name] = &Enum{Name: name, Labels: texts(stmt.Vals)}
}

// alterEnum applies ADD VALUE and RENAME VALUE.
func (b *builder) alterEnum(stmt *pg.AlterEnumStmt) {
	e, ok := find(b, b.enums, qualified(texts(stmt.TypeName)))
	if !ok {
		if !b.guarded {
			b.diags.Errorf(diag.CatalogUnknown, b.pos(0, 0), "no migration makes the enum %s", qualified(texts(stmt.TypeName))).
				Hint("a migration before this one must create it")
		}
		return
	}
	if stmt.OldVal != "" {
		replace(e.Labels, stmt.OldVal, stmt.NewVal)
		return
	}
	if slices.Contains(e.Labels, stmt.NewVal) {
		return
	}
	at := len(e.Labels)
	if i := slices.Index(e.Labels, stmt.NewValNeighbor); i >= 0 {
		at = i
		if stmt.NewValIsAfter {
			at++
		}
	}
	e.Labels = slices.Insert(e.Labels, at, stmt.NewVal)
}

func (b *builder) createDomain(stmt *pg.CreateDomainStmt) {
	name := b.typeName(stmt.Domainname)
	if b.guarded && b.domains[name] != nil {
		return
	}
	d := &Domain{Name: name, base: typeOf(stmt.TypeName, b.lookupType)}
	b.domains[name] = d
	for _, n := range stmt.Constraints {
		b.addDomainConstraint(d, n.GetConstraint())
	}
}

func (b *builder) addDomainConstraint(d *Domain, con *pg.Constraint) {
	switch con.GetContype() {
	case pg.ConstrType_CONSTR_NOTNULL:
		d.NotNull = true
	case pg.ConstrType_CONSTR_CHECK:
		name := con.Conname
		if name == "" {
			name = chooseName(d.Name.Name, "", "check", b.constraintTaken(d.Name.Schema))
		}
		d.Checks = append(d.Checks, &Check{Name: name, expr: clone(con.RawExpr)})
	}
}

// alterDomain applies ALTER DOMAIN; the subtypes are PostgreSQL's letters.
func (b *builder) alterDomain(stmt *pg.AlterDomainStmt) {
	d, ok := find(b, b.domains, qualified(texts(stmt.TypeName)))
	if !ok {
		return
	}
	switch stmt.Subtype {
	case "N":
		d.NotNull = false
	case "O":
		d.NotNull = true
	case "C":
		b.addDomainConstraint(d, stmt.Def.GetConstraint())
	case "X":
		d.Checks = slices.DeleteFunc(d.Checks, func(c *Check) bool { return c.Name == stmt.Name })
	}
}

// createComposite notes a composite type for jsonb_populate_recordset.
func (b *builder) createComposite(stmt *pg.CompositeTypeStmt) {
	t := &Table{Name: model.TableName{Schema: b.schemaOf(stmt.Typevar.GetSchemaname()), Name: stmt.Typevar.GetRelname()}}
	for _, n := range stmt.Coldeflist {
		b.defineColumn(t, n.GetColumnDef())
	}
	b.others[t.Name] = t
}

func (b *builder) alterComposite(stmt *pg.AlterTableStmt) {
	t, ok := find(b, b.others, rangeName(stmt.Relation))
	if !ok {
		return
	}
	for _, n := range stmt.Cmds {
		cmd := n.GetAlterTableCmd()
		switch cmd.Subtype {
		case pg.AlterTableType_AT_AddColumn:
			b.defineColumn(t, cmd.Def.GetColumnDef())
		case pg.AlterTableType_AT_DropColumn:
			b.dropColumn(t, cmd.Name)
		case pg.AlterTableType_AT_AlterColumnType:
			b.alterColumn(t, cmd, stmt.Relation)
		}
	}
}

// dropType removes a type and the columns of that type, which only CASCADE allows.
func (b *builder) dropType(name model.TableName) {
	enum, _ := find(b, b.enums, name)
	domain, _ := find(b, b.domains, name)
	if composite, ok := find(b, b.others, name); ok {
		delete(b.others, composite.Name)
	}
	for _, t := range b.tables {
		for _, c := range slices.Clone(t.Columns) {
			if enum != nil && c.ref.enum == enum || domain != nil && c.ref.domain == domain {
				b.dropColumn(t, c.Name)
			}
		}
	}
	if enum != nil {
		delete(b.enums, enum.Name)
	}
	if domain != nil {
		delete(b.domains, domain.Name)
	}
}

// setTypeName moves a type to another name or schema.
func (b *builder) setTypeName(name model.TableName, change func(*model.TableName)) {
	if e, ok := find(b, b.enums, name); ok {
		delete(b.enums, e.Name)
		change(&e.Name)
		b.enums[e.Name] = e
	}
	if d, ok := find(b, b.domains, name); ok {
		delete(b.domains, d.Name)
		change(&d.Name)
		b.domains[d.Name] = d
	}
	if t, ok := find(b, b.others, name); ok {
		delete(b.others, t.Name)
		change(&t.Name)
		b.others[t.Name] = t
	}
}

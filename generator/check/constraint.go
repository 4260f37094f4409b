package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
)

// constraint checks that a statement can violate the constraint that its
// @error names.
func (b *builder) constraint(step *model.Step, name spec.Name) {
	holders, all := b.holders(name.Value)
	if len(holders) == 0 {
		b.diags.Errorf(diag.CatalogUnknown, name.Pos, "no migration makes a constraint or index named %s", name.Value).
			Hint("%s", constraintHint(name.Value, all))
		return
	}
	if b.canViolate(step, name.Value) {
		return
	}
	b.diags.Errorf(diag.ConstraintUnused, name.Pos, "%s can't violate %s: it is a constraint of %s", step.Query.Name, name.Value, holders[0].Name.Name).
		Hint("move @error to the query that writes %s, or remove it", holders[0].Name.Name)
}

// canViolate reports whether a statement can meet an error. What triggers,
// rules and functions write can't be told.
func (b *builder) canViolate(step *model.Step, name string) bool {
	if step.IsCall() {
		return false
	}
	if step.Go != nil { // it may run any statement, and has codes of its own
		return true
	}
	shape := &step.Query.Shape
	traits := shape.TargetTraits
	if b.isSQLState(name) || shape.Calls || traits.OtherWrites || traits.Rules || traits.View {
		return true
	}
	holders, _ := b.holders(name)
	return slices.ContainsFunc(holders, func(t *schema.Table) bool { return b.reaches(shape, t) || b.dangles(t, name) })
}

// dangles reports whether name is a foreign key to a table that no migration
// makes: who can violate it can't be told.
func (b *builder) dangles(t *schema.Table, name string) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(f *schema.ForeignKey) bool {
		return f.Name == name && b.cat.Table(f.References) == nil
	})
}

func constraintHint(name string, all []string) string {
	if near := diag.Nearest(name, all); near != "" {
		return "did you mean " + near + "?"
	}
	return "name a constraint of the table that is written, or a SQLSTATE such as 23P01"
}

// holders are the tables that have a constraint or unique index of that name,
// and the names of all.
func (b *builder) holders(name string) (tables []*schema.Table, all []string) {
	for _, t := range b.cat.Tables {
		names := constraintNames(t)
		all = append(all, names...)
		if slices.Contains(names, name) || b.domainCheck(name) {
			tables = append(tables, t)
		}
	}
	return tables, all
}

func constraintNames(t *schema.Table) []string {
	var names []string
	for _, u := range t.Uniques {
		names = append(names, u.Name)
	}
	for _, f := range t.ForeignKeys {
		names = append(names, f.Name)
	}
	for _, c := range t.Checks {
		names = append(names, c.Name)
	}
	return append(names, t.Exclusions...)
}

// domainCheck reports whether name is a check of a domain. A column does not
// say which domain it is of, so such a check counts for every table.
func (b *builder) domainCheck(name string) bool {
	for _, d := range b.cat.Domains {
		if slices.ContainsFunc(d.Checks, func(c *schema.Check) bool { return c.Name == name }) {
			return true
		}
	}
	return false
}

// reaches reports whether a statement can violate a constraint of the table: it
// writes the table, or it changes or deletes rows that the table references,
// be it through a foreign key that cascades.
func (b *builder) reaches(shape *model.Shape, table *schema.Table) bool {
	changed := slices.Clone(shape.Writes)
	written := func(name model.TableName) bool {
		return slices.ContainsFunc(changed, func(w model.TableName) bool { return sameTable(w, name) })
	}
	if shape.Kind == model.Insert && shape.OnConflict != "update" && !shape.ModifyingCTE {
		return written(table.Name)
	}
	for grown := true; grown; {
		grown = false
		for _, t := range b.cat.Tables {
			cascades := slices.ContainsFunc(t.ForeignKeys, func(f *schema.ForeignKey) bool { return f.Cascades && written(f.References) })
			if cascades && !written(t.Name) {
				changed, grown = append(changed, t.Name), true
			}
		}
	}
	return written(table.Name) ||
		slices.ContainsFunc(table.ForeignKeys, func(f *schema.ForeignKey) bool { return written(f.References) })
}

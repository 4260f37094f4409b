package schema

import (
	"github.com/idemgen/idemgen/generator/model"
)

// finish fills what readers see of a table, now that all names and types are final.
func (t *Table) finish() {
	for _, c := range t.Columns {
		c.Type = c.ref.model()
		c.NotNull = c.NotNull || c.ref.notNull()
		if c.defaultExpr != nil {
			c.Default = deparse(c.defaultExpr)
		}
	}
	for _, u := range t.Uniques {
		u.Where = deparse(u.where)
	}
	for _, c := range t.Checks {
		c.Expression, c.Columns = deparse(c.expr), columnsIn(c.expr)
		c.Rules = rulesOf(c, func(name string) (model.Type, bool) {
			col := t.Column(name)
			if col == nil {
				return model.Type{}, false
			}
			return col.Type, true
		})
		for name, rules := range c.Rules {
			c.Rules[name] = storedRules(t.Column(name).Type, rules)
		}
	}
	for _, tr := range t.history.triggers {
		t.Traits.StatementTriggers = t.Traits.StatementTriggers || tr.statement
		t.Traits.RowTriggers = t.Traits.RowTriggers || tr.row
	}
	t.Traits.Rules = len(t.history.rules) > 0
	t.Traits.OtherWrites = len(t.history.triggers) > 0
}

// joinPartitions gives a partitioned table the traits that its partitions
// have, and them its row triggers: a row written to one fires both.
func (t *Table) joinPartitions() {
	for _, child := range t.family()[1:] {
		if child.history.parent == nil {
			continue
		}
		row := t.Traits.RowTriggers || child.Traits.RowTriggers
		t.Traits.RowTriggers, child.Traits.RowTriggers = row, row
		t.Traits.OtherWrites = t.Traits.OtherWrites || child.Traits.OtherWrites
	}
}

// finish fills what readers see of a domain. A domain over a domain is made
// after it, but names sort otherwise, so rules of the base are made on demand.
func (d *Domain) finish() {
	if d.Base.Kind != "" || d.Base.Name != "" {
		return
	}
	if d.base.domain != nil {
		d.base.domain.finish()
	}
	d.Base = d.base.model()
	for _, c := range d.Checks {
		c.Expression = deparse(c.expr)
		c.Rules = rulesOf(c, func(name string) (model.Type, bool) {
			return d.Base, name == "value"
		})
		if c.Rules != nil {
			c.Rules = map[string][]model.Check{"": c.Rules["value"]}
		}
	}
}

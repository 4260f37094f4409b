package lint

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// order is the tables in which an operation locks rows, in the order of its steps.
type order struct {
	op     *model.Operation
	tables []string
	steps  []*model.Step
}

// locks finds statements that lock several rows in an order that is chance. A
// call ends the transaction, and with it what is locked.
func (c *checker) locks(op *model.Operation) {
	sorted := map[string]bool{} // tables whose rows a step before has locked in order
	o := order{op: op}
	for _, s := range op.Steps {
		if s.IsCall() {
			c.ordered(o)
			o, sorted = order{op: op}, map[string]bool{}
		}
		if s.Go != nil || s.Query == nil {
			continue
		}
		table := lockedTable(s)
		if table == "" {
			continue
		}
		if !slices.Contains(o.tables, table) {
			o.tables, o.steps = append(o.tables, table), append(o.steps, s)
		}
		switch {
		case sorted[table] || s.Query.Shape.SkipLocked:
		case s.Each != nil:
			c.warn(op, diag.RiskLockOrder, s.Pos, fmt.Sprintf("it locks rows of %s one by one, in the order in which the client lists them", table),
				"lock them first, in one order: a step with SELECT … ORDER BY … FOR UPDATE; or refuse lists that are not sorted")
		case inOrder(s):
			sorted[table] = true
		case !c.oneRow(s):
			c.warn(op, diag.RiskLockOrder, s.Query.Pos, fmt.Sprintf("%s locks any number of rows of %s, in no fixed order", s.Query.Name, table),
				"lock them in one order: SELECT … ORDER BY … FOR UPDATE, as a step before, or in a WITH of the statement; or compare all columns of a unique index")
		}
	}
	c.ordered(o)
}

// ordered keeps the order of a transaction, where it has one.
func (c *checker) ordered(o order) {
	if len(o.tables) > 1 {
		c.orders = append(c.orders, o)
	}
}

// lockedTable is the table whose rows a statement locks, "" for none. An INSERT
// locks only rows that nobody else sees.
func lockedTable(s *model.Step) string {
	shape := &s.Query.Shape
	switch {
	case shape.Kind == model.Update || shape.Kind == model.Delete:
		return shape.Target.Name
	case shape.Kind == model.Select && shape.RowLocks && len(shape.Reads) > 0:
		return shape.Reads[0].Name
	}
	return ""
}

// inOrder reports whether a statement sorts what it locks. An UPDATE or DELETE
// with a FOR UPDATE inside was written by somebody who thought of it.
func inOrder(s *model.Step) bool {
	shape := &s.Query.Shape
	if shape.Kind != model.Select {
		return shape.RowLocks
	}
	stmt, err := sqltext.Parse(s.Query.SQL)
	return err == nil && stmt.OrderBy != nil
}

// oneRow reports whether a statement compares all columns of a unique index.
func (c *checker) oneRow(s *model.Step) bool {
	table := s.Query.Shape.Target
	if s.Query.Shape.Kind == model.Select {
		table = s.Query.Shape.Reads[0]
	}
	t := c.cat.Table(table)
	if t == nil || t.Traits.View {
		return true // not known
	}
	return slices.ContainsFunc(t.Uniques, func(u *schema.Unique) bool {
		return len(u.Columns) > 0 && u.Where == "" && all(u.Columns, func(column string) bool { return compared(s, t.Name, column) })
	})
}

func compared(s *model.Step, table model.TableName, column string) bool {
	return slices.ContainsFunc(s.Query.Shape.Feeds, func(f model.Feed) bool {
		return !f.Assigned && f.Column == column && f.Table.Name == table.Name &&
			f.Param >= 1 && f.Param <= len(s.Query.Params) && !s.Query.Params[f.Param-1].Type.Array
	})
}

// crossings finds two operations that lock two tables in opposite orders.
func (c *checker) crossings() {
	for i, a := range c.orders {
		for _, b := range c.orders[i+1:] {
			first, second, step := crossing(a, b)
			if step != nil && a.op != b.op {
				c.warn(b.op, diag.RiskLockOrder, step.Pos, fmt.Sprintf("it locks rows of %s before those of %s, and %s does it the other way round", first, second, a.op.Name),
					"take the tables in the same order in both")
			}
		}
	}
}

// crossing is the first pair of tables that b locks in the other order than a.
func crossing(a, b order) (first, second string, step *model.Step) {
	for i, t := range b.tables {
		at := slices.Index(a.tables, t)
		for _, later := range b.tables[i+1:] {
			if other := slices.Index(a.tables, later); at >= 0 && other >= 0 && other < at {
				return t, later, b.steps[i]
			}
		}
	}
	return "", "", nil
}

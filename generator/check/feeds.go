package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

// inputType is the type of a parameter as a request sees it: with the rules of
// every column that it is stored in as it is, and with the members of a
// recordset. One that is nothing but compared is never null: a secret that a
// request could leave out would be none.
func (c *checker) inputType(q *model.Query, p model.Param) model.Type {
	t := p.Type
	if slices.Contains(q.Shape.Compared, p.Number) {
		t = notNull(t)
	}
	for _, f := range q.Shape.Feeds {
		if f.Param == p.Number && f.Plain && f.Assigned {
			c.columnRules(&t, f.Table, f.Column)
		}
	}
	for _, rs := range q.Shape.Recordsets {
		if rs.Param == p.Number && t.Kind == model.KindJSON && !t.Array {
			t.Kind, t.List = model.KindRecord, rs.List
			t.Members = c.recordMembers(rs)
		}
	}
	return t
}

// columnRules adds what a column demands of a value stored in it. Where a cast
// stands between, the rules speak of another type and stay with the database.
func (c *checker) columnRules(t *model.Type, name model.TableName, column string) {
	table, col := c.findColumn(name, column)
	if col == nil || col.Type.Kind != t.Kind || col.Type.Array != t.Array {
		return
	}
	if t.Enum == nil {
		t.Enum = col.Type.Enum
	}
	mergeRules(t, col.Type)
	for _, check := range table.Checks {
		t.Checks = addChecks(t.Checks, check.Rules[column], check.Name)
	}
	if col.NotNull && !table.Traits.RowTriggers { // a trigger may fill it in
		*t = notNull(*t)
	}
}

func (c *checker) findColumn(name model.TableName, column string) (*schema.Table, *schema.Column) {
	table := c.cat.Table(name)
	if table == nil {
		return nil, nil
	}
	return table, table.Column(column)
}

// recordMembers are the members of a recordset's element. The names are those
// of the column list, whatever the service's case: PostgreSQL looks them up by
// name. An INSERT of a missing member stores NULL, a default does not apply.
func (c *checker) recordMembers(rs model.Recordset) []model.Member {
	var out []model.Member
	for _, rc := range rs.Columns {
		t, ok := c.cat.Type(rc.Type)
		if !ok {
			t = model.Type{Kind: model.KindJSON, Name: rc.Type}
		}
		t.Nullable = true
		if rc.Column != "" {
			c.columnRules(&t, rc.Table, rc.Column)
			if _, col := c.findColumn(rc.Table, rc.Column); col != nil && col.NotNull {
				t.Nullable = false
			}
		}
		t.GoType = defaultGoType(t)
		out = append(out, model.Member{Name: rc.Name, GoName: goName(rc.Name), Type: t, Required: !t.Nullable})
	}
	return out
}

// feedsRequest reports whether a value of the request reaches the column.
func feedsRequest(step *model.Step, table model.TableName, column string) bool {
	shape := &step.Query.Shape
	for _, f := range shape.Feeds {
		if f.Assigned && f.Column == column && sameTable(f.Table, table) && fromRequest(step, f.Param) {
			return true
		}
	}
	for _, rs := range shape.Recordsets {
		for _, rc := range rs.Columns {
			if rc.Column == column && sameTable(rc.Table, table) && fromRequest(step, rs.Param) {
				return true
			}
		}
	}
	return false
}

func fromRequest(step *model.Step, param int) bool {
	if param < 1 || param > len(step.Args) {
		return false
	}
	src := step.Args[param-1]
	switch src.Kind {
	case model.SourceItem:
		return true
	case model.SourceInput:
		return src.Input.From != model.FromCaller
	}
	return false
}

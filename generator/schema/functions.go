package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// noteFunction remembers that a function of that name is the user's.
func (b *builder) noteFunction(stmt *pg.CreateFunctionStmt) {
	if names := texts(stmt.Funcname); len(names) > 0 {
		name := names[len(names)-1]
		b.cat.functions[name] = true
		b.cat.setReturns[name] = b.cat.setReturns[name] || stmt.GetReturnType().GetSetof()
	}
}

// noteAggregate remembers the name of an aggregate that migrations make.
func (b *builder) noteAggregate(stmt *pg.DefineStmt) {
	if names := texts(stmt.Defnames); stmt.Kind == pg.ObjectType_OBJECT_AGGREGATE && len(names) > 0 {
		b.cat.aggregates[names[len(names)-1]] = true
	}
}

// mayWrite reports whether a function may write tables: one that migrations
// make, or one in a schema of its own, such as an extension's. PostgreSQL's own
// write none.
func (c *Catalog) mayWrite(call *pg.FuncCall) bool {
	names := texts(call.GetFuncname())
	if len(names) > 1 {
		return !systemSchema(names[len(names)-2])
	}
	return len(names) == 1 && (c.functions[names[0]] || c.aggregates[names[0]])
}

// callsWriter reports whether an expression calls such a function.
func (c *Catalog) callsWriter(expr *pg.Node) bool {
	found := false
	sqltext.Walk(expr, func(m proto.Message) bool {
		if call, ok := m.(*pg.FuncCall); ok {
			found = found || c.mayWrite(call)
		}
		return !found
	})
	return found
}

// advancing are functions of PostgreSQL's own whose effect stays.
var advancing = []string{"nextval", "setval", "pg_notify"}

// noteEarly notes a sub-select in FROM or WITH that calls what has an effect,
// such as EXISTS (SELECT FROM f()) in the condition of a join. Where it names no
// column of the query around it, PostgreSQL may ask for it before any condition
// in WHERE: the planner pulls it up, to a place before them.
func (f *factCollector) noteEarly(from []*pg.Node, with *pg.WithClause) {
	for _, n := range slices.Concat(from, with.GetCtes()) {
		sqltext.Walk(n, func(m proto.Message) bool {
			if link, ok := m.(*pg.SubLink); ok {
				f.shape.EarlyCalls = f.shape.EarlyCalls || f.cat.hasEffect(link.Subselect)
			}
			return !f.shape.EarlyCalls
		})
	}
}

// hasEffect reports whether a query calls a function that may write, or that
// moves a sequence.
func (c *Catalog) hasEffect(query *pg.Node) bool {
	found := false
	sqltext.Walk(query, func(m proto.Message) bool {
		if call, ok := m.(*pg.FuncCall); ok {
			found = found || c.mayWrite(call) || slices.Contains(advancing, funcName(call))
		}
		return !found
	})
	return found
}

// joinCalls notes that storing a row of the table calls functions of the user's.
func (c *Catalog) joinCalls(t *Table) {
	t.Traits.OtherWrites = t.Traits.OtherWrites ||
		slices.ContainsFunc(t.Columns, func(col *Column) bool { return c.callsWriter(col.defaultExpr) }) ||
		slices.ContainsFunc(t.Checks, func(check *Check) bool { return c.callsWriter(check.expr) })
}

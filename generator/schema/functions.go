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
		b.cat.functions[names[len(names)-1]] = true
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
	return len(names) == 1 && c.functions[names[0]]
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

// joinCalls notes that storing a row of the table calls functions of the user's.
func (c *Catalog) joinCalls(t *Table) {
	t.Traits.OtherWrites = t.Traits.OtherWrites ||
		slices.ContainsFunc(t.Columns, func(col *Column) bool { return c.callsWriter(col.defaultExpr) }) ||
		slices.ContainsFunc(t.Checks, func(check *Check) bool { return c.callsWriter(check.expr) })
}

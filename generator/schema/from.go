package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"
)

// from makes the scope of a FROM clause; conditions of joins are compared. The
// filters, WHERE and HAVING, decide which outer joins leave nulls.
func (a *analysis) from(items []*pg.Node, env environment, filters ...*pg.Node) []relation {
	var scope []relation
	var conditions []*pg.Node
	leaves := map[*pg.Node]int{}
	queue := slices.Clone(items)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		leaves[n] = len(scope)
		switch f := n.GetNode().(type) {
		case *pg.Node_JoinExpr:
			delete(leaves, n)
			queue = append([]*pg.Node{f.JoinExpr.Larg, f.JoinExpr.Rarg}, queue...)
			conditions = append(conditions, f.JoinExpr.Quals)
		case *pg.Node_RangeVar:
			scope = append(scope, a.rangeVar(f.RangeVar, env))
		case *pg.Node_RangeSubselect:
			s := f.RangeSubselect
			outputs := renamed(a.query(s.Subquery, env), texts(s.GetAlias().GetColnames()))
			scope = append(scope, relation{alias: s.GetAlias().GetAliasname(), outputs: outputs})
		case *pg.Node_RangeFunction:
			scope = append(scope, a.rangeFunction(f.RangeFunction, scope))
		}
	}
	for _, c := range conditions {
		a.compare(c, scope)
	}
	outerJoins{scope, leaves}.extend(items, filters)
	return scope
}

func (a *analysis) rangeVar(v *pg.RangeVar, env environment) relation {
	alias := v.GetAlias().GetAliasname()
	if alias == "" {
		alias = v.Relname
	}
	if outputs, ok := env[v.Relname]; ok && v.Schemaname == "" {
		return relation{alias: alias, outputs: renamed(outputs, texts(v.GetAlias().GetColnames()))}
	}
	return relation{alias: alias, name: rangeName(v), table: a.cat.table(rangeName(v))}
}

// rangeFunction is the relation of a function: a recordset, unnest, or any
// other, whose columns come from all its arguments.
func (a *analysis) rangeFunction(f *pg.RangeFunction, scope []relation) relation {
	r := relation{alias: f.GetAlias().GetAliasname()}
	names := texts(f.GetAlias().GetColnames())
	call := soleCall(f)
	if r.alias == "" {
		r.alias = funcName(call)
	}
	if rs := a.recordsetOf(call); rs != nil {
		for _, c := range rs.Columns {
			r.outputs = append(r.outputs, output{name: c.Name, origins: []origin{{param: rs.Param, record: c.Name, plain: true}}})
		}
		r.outputs = renamed(r.outputs, names)
	} else {
		for i, arg := range call.GetArgs() {
			origins := notPlain(a.origins(arg, scope))
			if i == 0 || funcName(call) == "unnest" {
				r.outputs = append(r.outputs, output{name: r.alias, origins: origins})
			} else {
				r.outputs[0].origins = append(r.outputs[0].origins, origins...)
			}
		}
		r.outputs = renamed(r.outputs, names)
	}
	if f.Ordinality {
		r.outputs = append(r.outputs, output{name: "ordinality"})
	}
	return r
}

// soleCall is the function of a FROM item that calls just one, nil for ROWS FROM.
func soleCall(f *pg.RangeFunction) *pg.FuncCall {
	if len(f.Functions) != 1 || f.IsRowsfrom {
		return nil
	}
	items := f.Functions[0].GetList().GetItems()
	if len(items) == 0 {
		return nil
	}
	return items[0].GetFuncCall()
}

package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// feed notes that values reach a column.
func (a *analysis) feed(table model.TableName, column string, origins []origin) {
	for _, o := range origins {
		if o.record == "" {
			a.addFeed(model.Feed{Param: o.param, Table: table, Column: column, Assigned: true, Plain: o.plain})
		} else if o.plain {
			a.recordsets[o.param].feed(o.record, table, column)
		}
	}
}

func (a *analysis) addFeed(f model.Feed) {
	if !slices.Contains(a.shape.Feeds, f) {
		a.shape.Feeds = append(a.shape.Feeds, f)
	}
}

func (a *analysis) insert(n *pg.InsertStmt, env environment) []output {
	env = a.with(n.WithClause, env)
	target := rangeName(n.Relation)
	columns := a.insertColumns(n)
	source := a.query(n.SelectStmt, env)
	excluded := relation{alias: "excluded"}
	for i := range min(len(columns), len(source)) {
		a.feed(target, columns[i], source[i].origins)
		excluded.outputs = append(excluded.outputs, output{name: columns[i], origins: source[i].origins})
	}
	scope := []relation{a.rangeVar(n.Relation, nil)}
	if c := n.OnConflictClause; c != nil {
		a.set(target, c.TargetList, append(scope[:1:1], excluded))
		a.compare(c.WhereClause, scope)
	}
	return a.outputs(n.GetReturningClause().GetExprs(), scope)
}

func (a *analysis) update(n *pg.UpdateStmt, env environment) []output {
	env = a.with(n.WithClause, env)
	scope := append([]relation{a.rangeVar(n.Relation, nil)}, a.from(n.FromClause, env, n.WhereClause)...)
	a.set(rangeName(n.Relation), n.TargetList, scope)
	a.compare(n.WhereClause, scope)
	return a.outputs(n.GetReturningClause().GetExprs(), scope)
}

func (a *analysis) deleteFrom(n *pg.DeleteStmt, env environment) []output {
	env = a.with(n.WithClause, env)
	scope := append([]relation{a.rangeVar(n.Relation, nil)}, a.from(n.UsingClause, env, n.WhereClause)...)
	a.compare(n.WhereClause, scope)
	return a.outputs(n.GetReturningClause().GetExprs(), scope)
}

// set notes the assignments of a SET clause.
func (a *analysis) set(target model.TableName, assignments []*pg.Node, scope []relation) {
	for _, n := range assignments {
		assignment := n.GetResTarget()
		value := assignment.GetVal()
		if multi := value.GetMultiAssignRef(); multi != nil {
			value = multiAssigned(multi)
		}
		origins := a.origins(value, scope)
		if len(assignment.GetIndirection()) > 0 { // a part of the column
			origins = notPlain(origins)
		}
		a.feed(target, assignment.GetName(), origins)
	}
}

// multiAssigned is the value of one column in SET (a, b) = ROW(…), nil for a subselect.
func multiAssigned(m *pg.MultiAssignRef) *pg.Node {
	args := m.GetSource().GetRowExpr().GetArgs()
	if i := int(m.Colno) - 1; i >= 0 && i < len(args) {
		return args[i]
	}
	return nil
}

// compare notes the parameters that a condition compares with columns by =.
func (a *analysis) compare(cond *pg.Node, scope []relation) {
	if e := cond.GetBoolExpr(); e != nil && e.Boolop == pg.BoolExprType_AND_EXPR {
		for _, arg := range e.Args {
			a.compare(arg, scope)
		}
		return
	}
	e := cond.GetAExpr()
	equal := e.GetKind() == pg.A_Expr_Kind_AEXPR_OP || e.GetKind() == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT
	if !equal || len(e.GetName()) != 1 || e.Name[0].GetString_().GetSval() != "=" {
		return
	}
	left, right := e.Lexpr.GetRowExpr().GetArgs(), e.Rexpr.GetRowExpr().GetArgs()
	if len(left) == 0 || len(left) != len(right) {
		left, right = []*pg.Node{e.Lexpr}, []*pg.Node{e.Rexpr}
	}
	for i := range left {
		a.compareSides(left[i], right[i], scope)
		a.compareSides(right[i], left[i], scope)
	}
}

func (a *analysis) compareSides(column, value *pg.Node, scope []relation) {
	param := stripCasts(value).GetParamRef()
	bare := stripCasts(column)
	qualifier, name, star, ok := columnName(bare)
	if param == nil || !ok || star {
		return
	}
	for _, r := range scope {
		if r.name.Name == "" || qualifier != "" && qualifier != r.alias {
			continue
		}
		if r.table == nil && (qualifier != "" || len(scope) == 1) || r.table != nil && r.table.Column(name) != nil {
			a.addFeed(model.Feed{Param: int(param.Number), Table: r.name, Column: name, Plain: bare == column})
			return
		}
	}
}

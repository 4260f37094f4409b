package schema

import (
	pg "github.com/sqlc-dev/oliphant"
)

// targetName is the name of a result column, as PostgreSQL chooses it.
func targetName(t *pg.ResTarget) string {
	if t.GetName() != "" {
		return t.GetName()
	}
	return figureName(t.GetVal())
}

func figureName(n *pg.Node) string {
	switch e := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		_, name, _, _ := columnName(n)
		return name
	case *pg.Node_FuncCall:
		return funcName(e.FuncCall)
	case *pg.Node_TypeCast:
		if name := figureName(e.TypeCast.Arg); name != "" {
			return name
		}
		names := texts(e.TypeCast.GetTypeName().GetNames())
		return names[len(names)-1]
	case *pg.Node_CollateClause:
		return figureName(e.CollateClause.Arg)
	case *pg.Node_AIndirection:
		for i := len(e.AIndirection.Indirection) - 1; i >= 0; i-- {
			if s := e.AIndirection.Indirection[i].GetString_(); s != nil {
				return s.Sval
			}
		}
		return figureName(e.AIndirection.Arg)
	}
	return figureOther(n)
}

// figureOther names the expressions that are named after their keyword.
func figureOther(n *pg.Node) string {
	switch e := n.GetNode().(type) {
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	case *pg.Node_MinMaxExpr:
		if e.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least"
		}
		return "greatest"
	case *pg.Node_CaseExpr:
		if name := figureName(e.CaseExpr.GetDefresult()); name != "" {
			return name
		}
		return "case"
	case *pg.Node_AArrayExpr:
		return "array"
	case *pg.Node_RowExpr:
		return "row"
	case *pg.Node_AExpr:
		if e.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	case *pg.Node_SubLink:
		return subLinkName(e.SubLink)
	case *pg.Node_GroupingFunc:
		return "grouping"
	case *pg.Node_SqlvalueFunction:
		return "now" // named after its keyword; which one makes no difference here
	case *pg.Node_XmlExpr, *pg.Node_XmlSerialize, *pg.Node_JsonObjectConstructor, *pg.Node_JsonArrayConstructor,
		*pg.Node_JsonArrayQueryConstructor, *pg.Node_JsonObjectAgg, *pg.Node_JsonArrayAgg, *pg.Node_JsonFuncExpr,
		*pg.Node_JsonParseExpr, *pg.Node_JsonScalarExpr, *pg.Node_JsonSerializeExpr:
		return "json"
	}
	return ""
}

func subLinkName(s *pg.SubLink) string {
	switch s.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return "exists"
	case pg.SubLinkType_ARRAY_SUBLINK:
		return "array"
	case pg.SubLinkType_EXPR_SUBLINK:
		if list := s.GetSubselect().GetSelectStmt().GetTargetList(); len(list) == 1 {
			return targetName(list[0].GetResTarget())
		}
	}
	return ""
}

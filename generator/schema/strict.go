package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"
)

// strictOperators give null for a null on either side, whatever the types; ||
// and the operators of extensions are not among them.
var strictOperators = []string{"=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "^", "~", "~*", "!~", "!~*"}

// strictFunctions give null for a null argument (proisstrict); the aggregates
// among them for nothing but nulls.
var strictFunctions = []string{
	"abs", "ceil", "ceiling", "floor", "round", "trunc", "lower", "upper", "initcap", "length", "char_length", "btrim", "ltrim", "rtrim",
	"left", "right", "substr", "substring", "replace", "date_trunc", "date_part", "extract", "to_char", "encode",
	"sum", "avg", "min", "max", "bool_and", "bool_or", "every", "string_agg",
}

// nullWith are the columns with any one of which an expression is null.
func nullWith(n *pg.Node) []*pg.Node {
	switch e := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return []*pg.Node{n}
	case *pg.Node_TypeCast:
		return nullWith(e.TypeCast.Arg)
	case *pg.Node_CollateClause:
		return nullWith(e.CollateClause.Arg)
	case *pg.Node_AExpr:
		if isStrict(e.AExpr) {
			return slices.Concat(nullWith(e.AExpr.Lexpr), nullWith(e.AExpr.Rexpr))
		}
	case *pg.Node_FuncCall:
		if slices.Contains(strictFunctions, funcName(e.FuncCall)) {
			var out []*pg.Node
			for _, arg := range e.FuncCall.Args {
				out = append(out, nullWith(arg)...)
			}
			return out
		}
	}
	return nil
}

func isStrict(e *pg.A_Expr) bool {
	return e.Kind == pg.A_Expr_Kind_AEXPR_OP && len(e.Name) == 1 && slices.Contains(strictOperators, e.Name[0].GetString_().GetSval())
}

// refusesNull are the columns without any one of which a condition is not true.
func refusesNull(n *pg.Node) []*pg.Node {
	switch e := n.GetNode().(type) {
	case *pg.Node_BoolExpr:
		return boolRefuses(e.BoolExpr)
	case *pg.Node_NullTest:
		if e.NullTest.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
			return nullWith(e.NullTest.Arg)
		}
	case *pg.Node_BooleanTest:
		if t := e.BooleanTest.Booltesttype; t == pg.BoolTestType_IS_TRUE || t == pg.BoolTestType_IS_FALSE {
			return nullWith(e.BooleanTest.Arg)
		}
	case *pg.Node_SubLink: // x IN (SELECT …)
		if e.SubLink.SubLinkType == pg.SubLinkType_ANY_SUBLINK {
			return nullWith(e.SubLink.Testexpr)
		}
	case *pg.Node_AExpr:
		switch e.AExpr.Kind {
		case pg.A_Expr_Kind_AEXPR_IN, pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_LIKE,
			pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR, pg.A_Expr_Kind_AEXPR_BETWEEN,
			pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
			return nullWith(e.AExpr.Lexpr)
		}
	}
	return nullWith(n)
}

func boolRefuses(e *pg.BoolExpr) []*pg.Node {
	switch e.Boolop {
	case pg.BoolExprType_AND_EXPR:
		var out []*pg.Node
		for _, arg := range e.Args {
			out = append(out, refusesNull(arg)...)
		}
		return out
	case pg.BoolExprType_NOT_EXPR:
		return nullWith(e.Args[0]) // NOT null is null
	}
	return nil
}

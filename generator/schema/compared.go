package schema

import (
	"slices"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// comparison counts how parameters are used: as a side of a comparison, and in
// places where a null has a meaning of its own. A parameter that is nothing but
// compared has no use for null: sqlc calls it nullable only since the column is.
type comparison struct {
	sides   map[int]int
	nullish map[int]bool
}

func newComparison() comparison { return comparison{map[int]int{}, map[int]bool{}} }

// visit counts what one node of a statement adds.
func (c comparison) visit(m proto.Message) {
	switch e := m.(type) {
	case *pg.A_Expr:
		if isComparison(e) {
			c.side(e.Lexpr)
			c.side(e.Rexpr)
		}
	case *pg.SubLink: // @x IN (SELECT …)
		if e.SubLinkType == pg.SubLinkType_ANY_SUBLINK || e.SubLinkType == pg.SubLinkType_ALL_SUBLINK {
			c.side(e.Testexpr)
		}
	case *pg.CaseExpr, *pg.CoalesceExpr, *pg.NullTest, *pg.BooleanTest:
		sqltext.Walk(m, func(inner proto.Message) bool {
			if p, ok := inner.(*pg.ParamRef); ok {
				c.nullish[int(p.Number)] = true
			}
			return true
		})
	}
}

// side counts the parameters of one side: alone, in a list or row, or in an
// operation that a null makes null.
func (c comparison) side(n *pg.Node) {
	switch e := stripCasts(n).GetNode().(type) {
	case *pg.Node_ParamRef:
		c.sides[int(e.ParamRef.Number)]++
	case *pg.Node_List:
		c.all(e.List.Items)
	case *pg.Node_RowExpr:
		c.all(e.RowExpr.Args)
	case *pg.Node_AArrayExpr:
		c.all(e.AArrayExpr.Elements)
	case *pg.Node_AExpr:
		if !isComparison(e.AExpr) && (isStrict(e.AExpr) || operator(e.AExpr) == "||") {
			c.side(e.AExpr.Lexpr)
			c.side(e.AExpr.Rexpr)
		}
	}
}

func (c comparison) all(nodes []*pg.Node) {
	for _, n := range nodes {
		c.side(n)
	}
}

// only are the parameters, in order, of which every use is a comparison.
func (c comparison) only(uses map[int]int) []int {
	var out []int
	for param, n := range uses {
		if c.sides[param] == n && !c.nullish[param] {
			out = append(out, param)
		}
	}
	slices.Sort(out)
	return out
}

var comparisonOperators = []string{"=", "<>", "!=", "<", ">", "<=", ">=", "~", "~*", "!~", "!~*"}

func isComparison(e *pg.A_Expr) bool {
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_OP, pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return slices.Contains(comparisonOperators, operator(e))
	case pg.A_Expr_Kind_AEXPR_IN, pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT,
		pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR,
		pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return true
	}
	return false
}

// operator is an operator without a schema, "" for OPERATOR(s.=).
func operator(e *pg.A_Expr) string {
	if len(e.GetName()) != 1 {
		return ""
	}
	return e.Name[0].GetString_().GetSval()
}

package schema

import (
	"cmp"
	"slices"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// aggregateFinder looks for the aggregates of one query. They may stand in its
// sub-selects: an aggregate belongs to the innermost query whose columns its
// arguments name (PostgreSQL docs, 4.2.7 Aggregate Expressions).
type aggregateFinder struct {
	cat     *Catalog
	columns bool // the query has columns that a sub-select can name
	found   bool
}

// look searches expressions of the query or, with the tables that the
// sub-selects around them read, of a sub-select.
func (f *aggregateFinder) look(inner []string, lists ...[]*pg.Node) {
	for _, n := range slices.Concat(lists...) {
		sqltext.Walk(n, func(m proto.Message) bool {
			switch e := m.(type) {
			case *pg.SelectStmt:
				if f.columns {
					f.subselect(inner, e)
				}
				return false
			case *pg.FuncCall:
				f.found = f.found || f.cat.mayAggregate(e) && !staysInside(e, inner)
			case *pg.JsonObjectAgg, *pg.JsonArrayAgg:
				f.found = f.found || !staysInside(m, inner)
			case *pg.ColumnRef:
				f.found = f.found || len(e.Fields) > 1 && f.cat.isAggregate(e.Fields[len(e.Fields)-1].GetString_().GetSval())
			case *pg.A_Indirection:
				f.found = f.found || slices.ContainsFunc(texts(e.Indirection), f.cat.isAggregate)
			}
			return !f.found
		})
	}
}

// subselect searches a sub-select. What stands in its FROM and WITH doesn't see
// its tables.
func (f *aggregateFinder) subselect(inner []string, q *pg.SelectStmt) {
	if q == nil {
		return
	}
	f.look(inner, q.FromClause, q.GetWithClause().GetCtes())
	f.subselect(inner, q.Larg)
	f.subselect(inner, q.Rarg)
	own := slices.Concat(inner, fromNames(q.FromClause))
	if own == nil {
		own = []string{} // inside a sub-select all the same
	}
	f.look(own, q.TargetList, q.ValuesLists, q.DistinctClause, q.GroupClause, q.WindowClause, q.SortClause,
		[]*pg.Node{q.WhereClause, q.HavingClause, q.LimitCount, q.LimitOffset})
}

// staysInside reports whether an aggregate in a sub-select surely belongs to
// it: it names no column, or one of a table that the sub-select reads. A column
// without its table may be the outer query's.
func staysInside(aggregate proto.Message, inner []string) bool {
	if inner == nil {
		return false
	}
	columns, own := false, false
	sqltext.Walk(aggregate, func(m proto.Message) bool {
		_, column := m.(*pg.ColumnRef)
		columns = columns || column
		return true
	})
	sqltext.Walk(aggregate, func(m proto.Message) bool {
		if c, ok := m.(*pg.ColumnRef); ok {
			own = own || len(c.Fields) == 2 && slices.Contains(inner, c.Fields[0].GetString_().GetSval())
		}
		_, deeper := m.(*pg.SelectStmt)
		return !deeper
	})
	return own || !columns
}

// fromNames are the names by which the columns of a FROM clause can be
// qualified, as far as they are written.
func fromNames(from []*pg.Node) []string {
	var out []string
	for _, n := range from {
		switch {
		case n.GetRangeVar() != nil:
			out = append(out, cmp.Or(n.GetRangeVar().GetAlias().GetAliasname(), n.GetRangeVar().Relname))
		case n.GetRangeSubselect() != nil:
			out = append(out, n.GetRangeSubselect().GetAlias().GetAliasname())
		case n.GetRangeFunction() != nil:
			out = append(out, n.GetRangeFunction().GetAlias().GetAliasname())
		case n.GetJoinExpr().GetAlias() != nil:
			out = append(out, n.GetJoinExpr().Alias.Aliasname) // hides those below it
		case n.GetJoinExpr() != nil:
			out = append(out, fromNames([]*pg.Node{n.GetJoinExpr().Larg, n.GetJoinExpr().Rarg})...)
		}
	}
	return out
}

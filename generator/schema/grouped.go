package schema

import (
	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// aggregates are PostgreSQL's own. Others are recognised by DISTINCT, ORDER BY
// or FILTER in the call, and by GROUP BY.
var aggregates = map[string]bool{
	"any_value": true, "array_agg": true, "avg": true, "bit_and": true, "bit_or": true, "bit_xor": true,
	"bool_and": true, "bool_or": true, "count": true, "every": true, "json_agg": true, "json_agg_strict": true,
	"jsonb_agg": true, "jsonb_agg_strict": true, "json_object_agg": true, "jsonb_object_agg": true,
	"json_object_agg_strict": true, "json_object_agg_unique": true, "json_object_agg_unique_strict": true,
	"jsonb_object_agg_strict": true, "jsonb_object_agg_unique": true, "jsonb_object_agg_unique_strict": true,
	"max": true, "min": true, "range_agg": true, "range_intersect_agg": true, "string_agg": true, "sum": true,
	"xmlagg": true, "corr": true, "covar_pop": true, "covar_samp": true, "regr_avgx": true, "regr_avgy": true,
	"regr_count": true, "regr_intercept": true, "regr_r2": true, "regr_slope": true, "regr_sxx": true, "regr_sxy": true,
	"regr_syy": true, "stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true,
	"var_samp": true, "mode": true, "percentile_cont": true, "percentile_disc": true,
}

// isGrouped reports whether a condition added to the query's WHERE would
// change more than which rows come out: aggregates give a row for no input.
func isGrouped(q *pg.SelectStmt) bool {
	if q == nil {
		return false
	}
	return q.Op != pg.SetOperation_SETOP_NONE || len(q.GroupClause) > 0 || q.HavingClause != nil ||
		len(q.DistinctClause) > 0 || q.LimitCount != nil || q.LimitOffset != nil || len(q.WindowClause) > 0 ||
		hasAggregate(q.TargetList) || hasAggregate(q.SortClause)
}

func hasAggregate(list []*pg.Node) bool {
	found := false
	for _, n := range list {
		sqltext.Walk(n, func(m proto.Message) bool {
			switch e := m.(type) {
			case *pg.SelectStmt:
				return false
			case *pg.FuncCall:
				found = found || isAggregate(e)
			case *pg.JsonObjectAgg, *pg.JsonArrayAgg:
				found = true
			}
			return !found
		})
	}
	return found
}

func isAggregate(f *pg.FuncCall) bool {
	return f.Over != nil || f.AggStar || f.AggDistinct || f.AggFilter != nil || len(f.AggOrder) > 0 || aggregates[funcName(f)]
}

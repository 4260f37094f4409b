package schema

import (
	pg "github.com/sqlc-dev/oliphant"
)

// isGrouped reports whether a condition added to the query's WHERE would
// change more than which rows come out: an aggregate gives a row for no input.
// What may be an aggregate, for all that is known, counts as one.
func (c *Catalog) isGrouped(q *pg.SelectStmt) bool {
	if q == nil {
		return false
	}
	return q.Op != pg.SetOperation_SETOP_NONE || len(q.GroupClause) > 0 || q.HavingClause != nil ||
		len(q.DistinctClause) > 0 || q.LimitCount != nil || q.LimitOffset != nil || len(q.WindowClause) > 0 ||
		c.hasAggregate(q)
}

// hasAggregate reports whether an aggregate may belong to the query itself.
func (c *Catalog) hasAggregate(q *pg.SelectStmt) bool {
	f := aggregateFinder{cat: c, columns: len(q.FromClause) > 0}
	f.look(nil, q.TargetList, q.SortClause)
	return f.found
}

package sqltext

import (
	pg "github.com/sqlc-dev/oliphant"
)

// locateWith reads the WITH clause in front of the verb and leaves the walker
// at the verb.
func (s *Statement) locateWith(w *walker, clause *pg.WithClause) {
	if clause == nil {
		return
	}
	s.With = readWith(w, clause)
	s.Verb = w.token().Start
}

func readWith(w *walker, clause *pg.WithClause) *With {
	with := &With{Recursive: clause.Recursive}
	with.Start = w.token().Start
	if !w.skip(pg.Token_WITH) && !w.skip(pg.Token_WITH_LA) {
		w.fail("WITH")
		return with
	}
	w.skip(pg.Token_RECURSIVE)
	with.Body.Start = w.token().Start
	for i, node := range clause.Ctes {
		if i > 0 && !w.skip(pg.Token_ASCII_44) {
			w.fail("the next CTE")
		}
		with.CTEs = append(with.CTEs, readCTE(w, node.GetCommonTableExpr()))
	}
	with.End, with.Body.End = w.end(), w.end()
	return with
}

func readCTE(w *walker, cte *pg.CommonTableExpr) CTE {
	out := CTE{Name: cte.GetCtename(), Modifying: isModifying(cte.GetCtequery())}
	out.Start = w.token().Start
	w.at++ // the name, which may be spelled like a keyword
	for !w.done() && !w.is(pg.Token_AS) {
		w.next()
	}
	w.skip(pg.Token_AS)
	w.skip(pg.Token_NOT)
	w.skip(pg.Token_MATERIALIZED)
	body := w.group("the query of a CTE")
	out.Query = Span{body.Start + 1, body.End - 1}
	if cte.GetSearchClause() != nil || cte.GetCycleClause() != nil {
		for !w.done() && !w.is(pg.Token_ASCII_44) && !isVerb(w) {
			w.next()
			skipColumnList(w)
		}
	}
	out.End = w.end()
	return out
}

// skipColumnList passes the rest of a list of names in SEARCH and CYCLE, whose
// commas don't end the CTE: the last list stands before SET, TO or USING.
func skipColumnList(w *walker) {
	for w.is(pg.Token_ASCII_44) && w.peek(2).token != pg.Token_AS && w.peek(2).token != pg.Token_ASCII_40 {
		w.at += 2
	}
}

func isVerb(w *walker) bool {
	switch w.token().token {
	case pg.Token_SELECT, pg.Token_INSERT, pg.Token_UPDATE, pg.Token_DELETE_P, pg.Token_VALUES,
		pg.Token_TABLE, pg.Token_MERGE, pg.Token_ASCII_40:
		return true
	}
	return false
}

func isModifying(query *pg.Node) bool {
	switch query.GetNode().(type) {
	case *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt:
		return true
	}
	return false
}

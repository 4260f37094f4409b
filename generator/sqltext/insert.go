package sqltext

import (
	pg "github.com/sqlc-dev/oliphant"
)

func (s *Statement) locateInsert(w *walker, stmt *pg.InsertStmt) {
	w.skip(pg.Token_INSERT)
	w.skip(pg.Token_INTO)
	s.locateTarget(w, stmt.Relation)
	if w.skip(pg.Token_AS) {
		w.at++
		s.Target.End = w.end()
	}
	if len(stmt.Cols) > 0 {
		s.Columns = &ColumnList{Span: w.group("the column list")}
		for _, c := range stmt.Cols {
			s.Columns.Names = append(s.Columns.Names, c.GetResTarget().GetName())
		}
	}
	if w.is(pg.Token_OVERRIDING) {
		start := w.token().Start
		w.at += 3 // OVERRIDING USER VALUE
		s.Overriding = &Clause{Span: Span{start, w.end()}, Body: Span{start, w.end()}}
	}
	first := w.at
	last := s.insertTail(w, stmt)
	s.locateSource(w, stmt, first, last)
}

// insertTail finds ON CONFLICT and RETURNING, and returns the index of the
// first token behind the source.
func (s *Statement) insertTail(w *walker, stmt *pg.InsertStmt) int {
	conflict := -1
	if stmt.OnConflictClause != nil {
		conflict = int(stmt.OnConflictClause.Location)
	}
	var marks []mark
	for ; !w.done(); w.next() {
		switch {
		case w.token().Start == conflict:
			marks = append(marks, mark{w.at, 2, &s.OnConflict})
		case w.isClause(pg.Token_RETURNING):
			marks = append(marks, mark{w.at, 1, &s.Returning})
		}
	}
	s.finish(marks)
	if (stmt.OnConflictClause != nil) != (s.OnConflict != nil) {
		w.fail("ON CONFLICT")
	}
	s.verify(w, false, stmt.ReturningClause != nil)
	if len(marks) > 0 {
		return marks[0].index
	}
	return len(s.tokens)
}

func (s *Statement) locateSource(w *walker, stmt *pg.InsertStmt, first, last int) {
	if first >= last {
		w.fail("the source of the rows")
		return
	}
	source := &Source{Span: Span{s.tokens[first].Start, s.tokens[last-1].End}, Kind: SourceSelect}
	s.Source = source
	query := stmt.GetSelectStmt().GetSelectStmt()
	inner := &walker{text: s.Text, tokens: s.tokens[first:last]}
	switch {
	case query == nil:
		source.Kind = SourceDefault
	case query.WithClause != nil:
		if startsWith(inner) {
			source.With = readWith(inner, query.WithClause)
		}
	case plainValues(query) && inner.is(pg.Token_VALUES):
		source.Kind = SourceValues
		source.Rows = readRows(inner, query.ValuesLists)
	}
	if inner.failed != "" {
		w.fail(inner.failed)
	}
}

// plainValues reports whether a query is VALUES lists and nothing else.
func plainValues(q *pg.SelectStmt) bool {
	return len(q.ValuesLists) > 0 && len(q.SortClause) == 0 && q.LimitCount == nil && q.LimitOffset == nil &&
		len(q.LockingClause) == 0
}

func readRows(w *walker, lists []*pg.Node) []Row {
	w.skip(pg.Token_VALUES)
	var rows []Row
	for i, list := range lists {
		if i > 0 && !w.skip(pg.Token_ASCII_44) {
			w.fail("the next row")
		}
		rows = append(rows, readRow(w, list.GetList().GetItems()))
	}
	if !w.done() {
		w.fail("the end of the rows")
	}
	return rows
}

func readRow(w *walker, items []*pg.Node) Row {
	row := Row{Span: Span{Start: w.token().Start}}
	if !w.skip(pg.Token_ASCII_40) {
		w.fail("a row")
		return row
	}
	for i, item := range items {
		if i > 0 {
			w.skip(pg.Token_ASCII_44)
		}
		start := w.token().Start
		for !w.done() && !w.is(pg.Token_ASCII_44) && !w.is(pg.Token_ASCII_41) {
			w.next()
		}
		row.Exprs = append(row.Exprs, Expr{Span: Span{start, w.end()}, Default: item.GetSetToDefault() != nil})
	}
	if !w.skip(pg.Token_ASCII_41) {
		w.fail("the end of a row")
	}
	row.End = w.end()
	return row
}

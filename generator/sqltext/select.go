package sqltext

import (
	pg "github.com/sqlc-dev/oliphant"
)

// locateSelect finds the top-level clauses of a select. With set operations,
// only those of the whole (ORDER BY and what follows) are kept.
func (s *Statement) locateSelect(w *walker, stmt *pg.SelectStmt) {
	var marks []mark
	for w.next(); !w.done(); w.next() {
		if into, words := s.selectClause(w, marks); words > 0 {
			if into == nil {
				s.SetOps = append(s.SetOps, w.token().Start)
			}
			marks = append(marks, mark{w.at, words, into})
		}
	}
	s.finish(marks)
	if len(s.SetOps) > 0 {
		s.From, s.Where, s.GroupBy, s.Having, s.Window = nil, nil, nil, nil, nil
	}
	nested := w.text[s.Verb] == '(' // the clauses inside belong to the inner select
	if !nested && len(s.SetOps) == 0 {
		s.verify(w, stmt.WhereClause != nil, false)
	}
	if (len(s.SetOps) > 0) != (stmt.Op != pg.SetOperation_SETOP_NONE) && !nested {
		w.fail("UNION")
	}
}

// selectClause says which clause the current token begins and how many words
// its keyword has; 0 words for none, a nil place for a set operation.
func (s *Statement) selectClause(w *walker, marks []mark) (into **Clause, words int) {
	switch {
	case s.isFrom(w) && !has(marks, &s.From): // the first: ROWS FROM comes later
		return &s.From, 1
	case w.isClause(pg.Token_WHERE):
		return &s.Where, 1
	case w.isClause(pg.Token_GROUP_P) && w.peek(-1).token != pg.Token_WITHIN:
		return &s.GroupBy, 2
	case w.isClause(pg.Token_HAVING):
		return &s.Having, 1
	case w.isClause(pg.Token_WINDOW):
		return &s.Window, 1
	case w.isClause(pg.Token_UNION), w.isClause(pg.Token_INTERSECT), w.isClause(pg.Token_EXCEPT):
		return nil, 1
	case w.isClause(pg.Token_ORDER):
		return &s.OrderBy, 2
	case w.isClause(pg.Token_LIMIT), w.isClause(pg.Token_FETCH):
		return &s.Limit, 1
	case w.isClause(pg.Token_OFFSET):
		return &s.Offset, 1
	case w.isClause(pg.Token_FOR):
		return &s.Locking, 1
	}
	return nil, 0
}

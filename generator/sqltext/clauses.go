package sqltext

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// mark is a clause that was found: where it starts, and where to put it.
type mark struct {
	index int // of its keyword among the tokens
	words int // of its keyword: FROM 1, GROUP BY 2
	into  **Clause
}

// finish makes clauses of the marks: each ends where the next one begins.
func (s *Statement) finish(marks []mark) {
	for i, m := range marks {
		end := len(s.tokens)
		if i+1 < len(marks) {
			end = marks[i+1].index
		}
		if m.into == nil {
			continue
		}
		c := &Clause{Span: Span{s.tokens[m.index].Start, s.tokens[end-1].End}}
		c.Body = Span{c.End, c.End}
		if m.index+m.words < end {
			c.Body.Start = s.tokens[m.index+m.words].Start
		}
		if *m.into != nil { // several FOR UPDATE, LIMIT beside OFFSET: one clause
			(*m.into).End = c.End
			(*m.into).Body.End = c.End
			continue
		}
		*m.into = c
	}
}

// locateTarget reads the written table's name at the walker's place. It ends
// behind the name; alias and star follow.
func (s *Statement) locateTarget(w *walker, rel *pg.RangeVar) {
	s.Target.Start = w.token().Start
	closing := false
	if w.skip(pg.Token_ONLY) {
		closing = w.skip(pg.Token_ASCII_40)
	}
	s.Target.NameSpan.Start = w.token().Start
	w.at++
	for w.skip(pg.Token_ASCII_46) {
		w.at++
	}
	s.Target.NameSpan.End = w.end()
	if closing {
		w.skip(pg.Token_ASCII_41)
	}
	s.Target.End = w.end()
	s.Target.Name = model.TableName{Schema: rel.GetSchemaname(), Name: rel.GetRelname()}
	s.Target.Alias = rel.GetAlias().GetAliasname()
	if int(rel.GetLocation()) != s.Target.NameSpan.Start {
		w.fail("the table")
	}
}

func (s *Statement) locateUpdate(w *walker, stmt *pg.UpdateStmt) {
	w.skip(pg.Token_UPDATE)
	s.locateTarget(w, stmt.Relation)
	for !w.done() && !w.isClause(pg.Token_SET) {
		w.next()
	}
	if w.done() {
		w.fail("SET")
		return
	}
	s.Target.End = w.end()
	marks := []mark{{w.at, 1, &s.Set}}
	for w.next(); !w.done(); w.next() {
		switch {
		case s.isFrom(w) && stmt.FromClause != nil && !has(marks, &s.From):
			marks = append(marks, mark{w.at, 1, &s.From})
		case w.isClause(pg.Token_WHERE):
			marks = append(marks, mark{w.at, 1, &s.Where})
		case w.isClause(pg.Token_RETURNING):
			marks = append(marks, mark{w.at, 1, &s.Returning})
		}
	}
	s.finish(marks)
	s.verify(w, stmt.WhereClause != nil, stmt.ReturningClause != nil)
}

func (s *Statement) locateDelete(w *walker, stmt *pg.DeleteStmt) {
	w.skip(pg.Token_DELETE_P)
	w.skip(pg.Token_FROM)
	s.locateTarget(w, stmt.Relation)
	var marks []mark
	for ; !w.done(); w.next() {
		switch {
		case w.isClause(pg.Token_USING) && !has(marks, &s.From):
			marks = append(marks, mark{w.at, 1, &s.From})
		case w.isClause(pg.Token_WHERE):
			marks = append(marks, mark{w.at, 1, &s.Where})
		case w.isClause(pg.Token_RETURNING):
			marks = append(marks, mark{w.at, 1, &s.Returning})
		}
	}
	end := len(s.tokens)
	if len(marks) > 0 {
		end = marks[0].index
	}
	s.Target.End = s.tokens[end-1].End
	s.finish(marks)
	s.verify(w, stmt.WhereClause != nil, stmt.ReturningClause != nil)
}

// isFrom reports whether the current token begins a FROM clause; IS DISTINCT
// FROM has one too.
func (s *Statement) isFrom(w *walker) bool {
	return w.isClause(pg.Token_FROM) && w.peek(-1).token != pg.Token_DISTINCT
}

func has(marks []mark, into **Clause) bool {
	for _, m := range marks {
		if m.into == into {
			return true
		}
	}
	return false
}

// verify compares what the tokens showed with what the tree says.
func (s *Statement) verify(w *walker, where, returning bool) {
	if where != (s.Where != nil) {
		w.fail("WHERE")
	}
	if returning != (s.Returning != nil) {
		w.fail("RETURNING")
	}
}

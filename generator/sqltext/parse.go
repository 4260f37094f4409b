package sqltext

import (
	"fmt"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// Parse reads exactly one statement, with or without a final semicolon. The
// error is an *Error.
func Parse(sql string) (*Statement, error) {
	result, err := pg.Parse(sql)
	if err != nil {
		return nil, wrapError(sql, err)
	}
	switch len(result.Stmts) {
	case 0:
		return nil, &Error{Message: "no statement", Offset: len(sql)}
	case 1:
	default:
		second := result.Stmts[1]
		return nil, &Error{Message: "more than one statement", Offset: int(second.StmtLocation)}
	}
	tokens, err := Tokens(sql)
	if err != nil {
		return nil, err
	}
	s := &Statement{Text: sql, tree: result.Stmts[0].Stmt}
	s.setTokens(tokens)
	return s, s.locate()
}

// setTokens keeps the statement's own tokens, without comments and semicolons.
func (s *Statement) setTokens(tokens []Token) {
	for _, t := range tokens {
		if t.Kind == TokenComment || t.token == pg.Token_ASCII_59 {
			continue
		}
		s.tokens = append(s.tokens, t)
		if t.Kind == TokenParam {
			s.Params = append(s.Params, t)
		}
	}
	s.Start = s.tokens[0].Start
	s.End = s.tokens[len(s.tokens)-1].End
	s.Verb = s.Start
}

// locate finds the parts of the statement. It fails only if scanner and parser
// disagree, which would be a fault of theirs or ours: better refused than
// rewritten at a wrong place.
func (s *Statement) locate() error {
	w := &walker{text: s.Text, tokens: s.tokens}
	switch n := s.tree.Node.(type) {
	case *pg.Node_InsertStmt:
		s.Kind = model.Insert
		s.locateWith(w, n.InsertStmt.WithClause)
		s.locateInsert(w, n.InsertStmt)
	case *pg.Node_UpdateStmt:
		s.Kind = model.Update
		s.locateWith(w, n.UpdateStmt.WithClause)
		s.locateUpdate(w, n.UpdateStmt)
	case *pg.Node_DeleteStmt:
		s.Kind = model.Delete
		s.locateWith(w, n.DeleteStmt.WithClause)
		s.locateDelete(w, n.DeleteStmt)
	case *pg.Node_SelectStmt:
		s.Kind = model.Select
		if startsWith(w) {
			s.locateWith(w, n.SelectStmt.WithClause)
		}
		s.locateSelect(w, n.SelectStmt)
	}
	if w.failed != "" {
		return &Error{Message: fmt.Sprintf("can't find the parts of this statement: %s", w.failed), Offset: s.Verb}
	}
	return nil
}

package plan

import (
	"errors"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// unit is a step with its parsed statement and the columns that it returns.
type unit struct {
	p      *planner
	step   *model.Step
	query  *model.Query
	stmt   *sqltext.Statement // nil for a Go step
	source *sqltext.Statement // the SELECT that feeds an INSERT, parsed by itself
	slots  []slot
}

// newUnit parses a step's statement. It reports and returns nil what can't be
// planned.
func newUnit(p *planner, s *model.Step) *unit {
	if s.Go != nil {
		return &unit{p: p, step: s, query: s.Query, slots: makeSlots(s.Query.Columns)}
	}
	stmt, err := sqltext.Parse(s.Query.SQL)
	if err != nil {
		p.refuse(s, err)
		return nil
	}
	if stmt.Kind == "" {
		p.diags.Errorf(diag.QueryUnsupport, s.Query.Pos, "query %s is not SELECT, INSERT, UPDATE or DELETE", s.Query.Name).
			Hint("other statements can't run under a key; write them as one of these")
		return nil
	}
	if name := reservedName(s.Query.SQL); name != "" {
		p.diags.Errorf(diag.NameCollision, s.Query.Pos, "query %s uses the name %s; names that begin with idem_ are idemgen's own", s.Query.Name, name).
			Hint("rename it, or give it an alias in a view")
		return nil
	}
	u := &unit{p: p, step: s, query: s.Query, stmt: stmt, slots: makeSlots(s.Query.Columns)}
	if stmt.Source != nil && stmt.Source.Kind == sqltext.SourceSelect {
		u.source, _ = sqltext.Parse(stmt.Source.In(stmt.Text)) // nil: not gated
	}
	return u
}

func (p *planner) refuse(s *model.Step, err error) {
	var syntax *sqltext.Error
	message := err.Error()
	if errors.As(err, &syntax) {
		message = syntax.Message
	}
	p.diags.Errorf(diag.QuerySyntax, s.Query.Pos, "query %s: %s", s.Query.Name, message).
		Hint("the statement must be one that PostgreSQL accepts")
}

// reservedName finds an identifier that would meet one of the generator's own
// (tables and common table expressions named idem_* would be captured).
func reservedName(sql string) string {
	tokens, err := sqltext.Tokens(sql)
	if err != nil {
		return ""
	}
	for _, t := range tokens {
		if t.Kind != sqltext.TokenIdent {
			continue
		}
		name := strings.Trim(t.In(sql), `"`)
		if strings.HasPrefix(strings.ToLower(name), "idem_") {
			return name
		}
	}
	return ""
}

// many reports whether all rows count, not only the first.
func (u *unit) many() bool { return u.query.Command == "many" || u.query.Command == "batchmany" }

// one reports whether the first row counts.
func (u *unit) one() bool { return u.query.Command == "one" || u.query.Command == "batchone" }

// exec reports whether only the number of rows counts.
func (u *unit) exec() bool { return !u.many() && !u.one() }

func (u *unit) batch() bool {
	return strings.HasPrefix(u.query.Command, "batch") || u.query.Command == "copyfrom"
}

// mayBeEmpty reports whether the answer depends on a row being there. A list
// may always be empty. An INSERT of one row without a conflict clause always
// gives its row, unless a trigger swallows it, or its values are sets of rows.
func (u *unit) mayBeEmpty() bool {
	if u.many() {
		return false
	}
	single := u.stmt.Kind == model.Insert && oneSourceRow(u.stmt) && u.stmt.OnConflict == nil
	return !single || u.query.Shape.ValuesOfSets || u.query.Shape.TargetTraits.RowTriggers
}

// oneSourceRow reports whether an INSERT's source is exactly one row.
func oneSourceRow(s *sqltext.Statement) bool {
	source := s.Source
	return source != nil && (source.Kind == sqltext.SourceDefault ||
		source.Kind == sqltext.SourceValues && len(source.Rows) == 1)
}

// isSelectVerb tells SELECT from VALUES, TABLE and a parenthesised query.
func isSelectVerb(s *sqltext.Statement) bool {
	const verb = "SELECT"
	return len(s.Text) >= s.Verb+len(verb) && strings.EqualFold(s.Text[s.Verb:s.Verb+len(verb)], verb)
}

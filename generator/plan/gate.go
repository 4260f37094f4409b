package plan

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// gateCondition is what a gated statement asks: does this request run?
const gateCondition = "(SELECT open FROM idem_gate)"

// gated are the edits that let the statement do something only where the gate
// is open. The user's words stay; only where the rows of an INSERT come from
// is rewritten, since VALUES has no condition.
func (u *unit) gated() []edit {
	switch {
	case u.stmt.Kind == model.Insert && u.source == nil:
		return u.gatedValues()
	case u.stmt.Kind == model.Insert:
		return shift(gatedWhere(u.source), u.stmt.Source.Start)
	}
	return gatedWhere(u.stmt)
}

// gatedValues makes VALUES (…) a SELECT. A bare parameter in the target list
// of INSERT … SELECT takes the column's type, as in VALUES. DEFAULT exists in
// VALUES only: its column is left out, which means the same.
func (u *unit) gatedValues() []edit {
	source := u.stmt.Source
	if source.Kind == sqltext.SourceDefault {
		return []edit{{source.Span, "SELECT\nWHERE " + gateCondition}}
	}
	row := source.Rows[0].Exprs
	if !slices.ContainsFunc(row, func(e sqltext.Expr) bool { return e.Default }) {
		list := sqltext.Span{Start: row[0].Start, End: row[len(row)-1].End}
		return []edit{{source.Span, selectWhere(list.In(u.stmt.Text))}}
	}
	names := u.insertColumns()
	var exprs, columns []string
	for i, e := range row {
		if !e.Default && i < len(names) {
			exprs = append(exprs, e.In(u.stmt.Text))
			columns = append(columns, sqltext.QuoteIdent(names[i]))
		}
	}
	return []edit{{source.Span, selectWhere(strings.Join(exprs, ", "))}, u.columnList(columns)}
}

func selectWhere(list string) string {
	if list != "" {
		list = " " + list
	}
	return "SELECT" + list + "\nWHERE " + gateCondition
}

// columnList replaces, or adds, the column list.
func (u *unit) columnList(columns []string) edit {
	list := "(" + strings.Join(columns, ", ") + ")"
	if len(columns) == 0 {
		list = ""
	}
	if u.stmt.Columns != nil {
		return edit{u.stmt.Columns.Span, list}
	}
	end := u.stmt.Target.End
	return edit{sqltext.Span{Start: end, End: end}, " " + list}
}

// insertColumns are the columns that the INSERT names, or the table's.
func (u *unit) insertColumns() []string {
	if u.stmt.Columns != nil {
		return u.stmt.Columns.Names
	}
	return u.query.Shape.InsertColumns
}

// gatedWhere adds the gate to a statement's condition. The user's stands in
// parentheses of its own, so that an OR in it can't open the gate; and behind
// the gate, since PostgreSQL evaluates conditions that cost it the same, such as
// an EXISTS about no column, in the order of their places: a replay must not
// call the functions in it.
func gatedWhere(s *sqltext.Statement) []edit {
	if s.Where == nil {
		at := whereAt(s)
		return []edit{{sqltext.Span{Start: at, End: at}, "\nWHERE " + gateCondition}}
	}
	body := s.Where.Body
	open, end := "(", ")"
	if strings.Contains(body.In(s.Text), "\n") || strings.Contains(body.In(s.Text), "--") {
		open, end = "(\n  ", "\n)"
	}
	return []edit{
		{sqltext.Span{Start: body.Start, End: body.Start}, gateCondition + " AND " + open},
		{sqltext.Span{Start: body.End, End: body.End}, end},
	}
}

func shift(edits []edit, by int) []edit {
	for i := range edits {
		edits[i].Start += by
		edits[i].End += by
	}
	return edits
}

// whereAt is where a WHERE would stand in a statement without one: behind the
// last clause that comes before it.
func whereAt(s *sqltext.Statement) int {
	next := s.End
	for _, c := range []*sqltext.Clause{s.GroupBy, s.Having, s.Window, s.OrderBy, s.Limit, s.Offset, s.Locking, s.Returning} {
		if c != nil {
			next = min(next, c.Start)
		}
	}
	end := s.Verb
	tokens, err := sqltext.Tokens(s.Text)
	if err != nil {
		return next
	}
	for _, t := range tokens {
		if t.Start >= next {
			break
		}
		if t.Kind != sqltext.TokenComment {
			end = t.End
		}
	}
	return end
}

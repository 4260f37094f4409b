package plan

import (
	"strings"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// cte is one common table expression of a generated statement.
type cte struct {
	name         string
	columns      []string // its own column names, nil: those of the query
	materialized bool
	why          string // for reviewers: what is clever here
	query        string
}

func (c cte) text() string {
	var b strings.Builder
	b.WriteString(c.name)
	if len(c.columns) > 0 {
		quoted := make([]string, len(c.columns))
		for i, name := range c.columns {
			quoted[i] = sqltext.QuoteIdent(name)
		}
		b.WriteString(" (" + wrap(quoted, "  ") + ")")
	}
	b.WriteString(" AS ")
	if c.materialized {
		b.WriteString("MATERIALIZED ")
	}
	b.WriteString("(\n")
	for line := range strings.Lines(c.why) {
		b.WriteString("  -- " + line)
	}
	if c.why != "" {
		b.WriteString("\n")
	}
	b.WriteString(indent(c.query, "  ") + "\n)")
	return b.String()
}

// withQuery is a whole statement: WITH, the user's hoisted expressions, ours,
// the main query.
type withQuery struct {
	hoisted   string // the user's own common table expressions, as written
	recursive bool
	ctes      []cte
	main      string
}

func (w withQuery) text() string {
	parts := make([]string, 0, len(w.ctes)+1)
	if w.hoisted != "" {
		parts = append(parts, w.hoisted)
	}
	for _, c := range w.ctes {
		parts = append(parts, c.text())
	}
	head := "WITH "
	if w.recursive {
		head = "WITH RECURSIVE "
	}
	return head + strings.Join(parts, ",\n\n") + "\n\n" + w.main + ";\n"
}

// userCTE makes the user's statement a common table expression, changed by
// edits. Its own expressions that write can't stay inside: PostgreSQL wants
// them at the top level.
func (u *unit) userCTE(name string, edits ...edit) withQuery {
	c := cte{name: name}
	for _, s := range u.slots {
		c.columns = append(c.columns, s.name)
	}
	if u.exec() {
		c.columns = nil
		edits = append(edits, u.returningAdded()...)
	}
	start := u.stmt.Start
	out := withQuery{}
	if u.stmt.With != nil && u.stmt.ModifyingCTEs() {
		start = u.stmt.Verb
		out.hoisted = u.stmt.With.Body.In(u.stmt.Text)
		out.recursive = u.stmt.With.Recursive
	}
	c.query = apply(u.stmt.Text, sqltext.Span{Start: start, End: u.stmt.End}, edits...)
	out.ctes = []cte{c}
	return out
}

// returningAdded gives a statement that returns nothing a row per row it
// touched, so that they can be counted. It reads no column: no privilege and
// no row-level security policy beyond the statement's own is asked for.
func (u *unit) returningAdded() []edit {
	if u.stmt.Returning != nil || u.stmt.Target.IsZero() {
		return nil
	}
	end := u.stmt.End
	return []edit{{sqltext.Span{Start: end, End: end}, "\nRETURNING 1"}}
}

package sqltext

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// Statement is one statement and where its top-level parts are. Clauses that
// the statement lacks are nil. Spans never include comments at their ends.
type Statement struct {
	Text string
	// Kind is "" for anything that is not SELECT (VALUES and TABLE included),
	// INSERT, UPDATE or DELETE.
	Kind model.StatementKind
	// Start and End are the whole statement, from its first token to its last,
	// semicolon and comments around it apart.
	Start, End int
	// With is the WITH clause in front of the verb. (The WITH of an INSERT's
	// source belongs to Source.)
	With *With
	// Verb is the place of INSERT, UPDATE, DELETE, SELECT, VALUES, TABLE or,
	// for a parenthesised select, of its parenthesis.
	Verb int

	// Target is the table that the statement writes; zero for SELECT. Its Span
	// is the table's name with ONLY, star and alias; SQL may be inserted after
	// its End.
	Target Target
	// Columns is an INSERT's column list with its parentheses, nil if it has none.
	Columns *ColumnList
	// Overriding is OVERRIDING … VALUE of an INSERT.
	Overriding *Clause
	// Source is where an INSERT's rows come from.
	Source *Source

	Set        *Clause // UPDATE: SET …
	From       *Clause // SELECT, UPDATE: FROM …; DELETE: USING …
	Where      *Clause // of the verb itself, not that of ON CONFLICT
	GroupBy    *Clause
	Having     *Clause
	Window     *Clause
	SetOps     []int   // places of top-level UNION, INTERSECT and EXCEPT; Where to Window are nil then
	OrderBy    *Clause // of the whole
	Limit      *Clause // LIMIT or FETCH
	Offset     *Clause
	Locking    *Clause // FOR UPDATE and kin, all of them
	OnConflict *Clause
	Returning  *Clause // Body is the list

	Params []Token // every parameter in the text, in order of place

	tree   *pg.Node
	tokens []Token // comments apart
}

// Clause is a keyword and what follows it, up to the next clause.
type Clause struct {
	Span      // from the keyword to the end
	Body Span // without the keyword: the condition, the list
}

// Target is the table that a statement writes.
type Target struct {
	Span
	Name  model.TableName
	Alias string
	// NameSpan is the qualified name alone.
	NameSpan Span
}

// With is a WITH clause.
type With struct {
	Span // from WITH to the end of the last CTE
	// Body is the list of CTEs, without WITH and RECURSIVE: others can be
	// added with a comma before or after it.
	Body      Span
	Recursive bool
	CTEs      []CTE
}

// CTE is one common table expression.
type CTE struct {
	Span // from its name to its end, SEARCH and CYCLE included
	Name string
	// Modifying is set for INSERT, UPDATE, DELETE and MERGE.
	Modifying bool
	Query     Span // inside the parentheses
}

// ColumnList is an INSERT's column list.
type ColumnList struct {
	Span
	Names []string
}

// SourceKind tells the sources of an INSERT apart.
type SourceKind string

// The sources of an INSERT.
const (
	SourceDefault SourceKind = "default" // DEFAULT VALUES
	SourceValues  SourceKind = "values"  // VALUES lists and nothing else
	SourceSelect  SourceKind = "select"  // any other query
)

// Source is where an INSERT's rows come from.
type Source struct {
	Span
	Kind SourceKind
	Rows []Row // SourceValues
	With *With // of the source's own query, nil if none
}

// Row is one row of a VALUES list.
type Row struct {
	Span  // with its parentheses
	Exprs []Expr
}

// Expr is one expression of a row.
type Expr struct {
	Span
	Default bool // the word DEFAULT
}

// ModifyingCTEs reports whether a top-level CTE writes.
func (s *Statement) ModifyingCTEs() bool {
	withs := []*With{s.With}
	if s.Source != nil {
		withs = append(withs, s.Source.With)
	}
	for _, w := range withs {
		if w == nil {
			continue
		}
		for _, c := range w.CTEs {
			if c.Modifying {
				return true
			}
		}
	}
	return false
}

// Tree is the parse tree, for package schema. It must not be changed.
func (s *Statement) Tree() *pg.Node { return s.tree }

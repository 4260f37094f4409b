package review

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// verb is one part of a statement that locks: a common table expression that
// writes, a locking clause, or the statement itself.
type verb struct {
	kind     model.StatementKind
	table    model.TableName // of a SELECT: the only one that it reads, or none
	tables   []string        // of a SELECT
	columns  []string        // that are written; nil of an INSERT: all
	mode     string          // of a SELECT: FOR UPDATE
	conflict []string        // of an INSERT: what DO UPDATE sets; nil without it
	order    string
	one      bool // LIMIT 1
	top      bool // the statement itself, not a part of it
	text     string
}

func (v verb) objects() string {
	if len(v.tables) == 0 {
		return "what it selects"
	}
	return strings.Join(v.tables, ", ")
}

// verbs are the locking parts of a statement, in the order of the text, which
// is that of execution but for parts that write beside each other.
func verbs(sql string) []verb { return verbsOf(sql, true) }

func verbsOf(sql string, top bool) []verb {
	stmt, err := sqltext.Parse(sql)
	if err != nil {
		return nil // the plan refused it
	}
	var out []verb
	withs := []*sqltext.With{stmt.With}
	if stmt.Source != nil {
		withs = append(withs, stmt.Source.With)
	}
	for _, w := range withs {
		if w == nil {
			continue
		}
		for _, c := range w.CTEs {
			out = append(out, verbsOf(c.Query.In(stmt.Text), false)...)
		}
	}
	v := verb{kind: stmt.Kind, table: stmt.Target.Name, top: top, text: sql, order: orderOf(stmt), one: limitOne(stmt)}
	switch stmt.Kind {
	case model.Select:
		return append(out, selectVerbs(stmt, v)...)
	case model.Insert:
		if stmt.Columns != nil {
			v.columns = stmt.Columns.Names
		}
		if stmt.OnConflict != nil {
			v.conflict = conflictColumns(stmt.OnConflict.In(stmt.Text))
		}
	case model.Update:
		v.columns = setColumns(stmt.Set.Body.In(stmt.Text))
	case model.Delete:
	default:
		return out
	}
	return append(append(out, inner(stmt)...), v)
}

// selectVerbs are the locks of a SELECT: its own clause, else those of its
// sub-selects.
func selectVerbs(stmt *sqltext.Statement, v verb) []verb {
	if stmt.Locking == nil {
		return inner(stmt)
	}
	v.mode = strings.ToUpper(oneLine(stmt.Locking.In(stmt.Text)))
	if at := strings.Index(v.mode, " OF "); at > 0 {
		v.mode = v.mode[:at]
	}
	// Without the clause, whose OF names aliases.
	v.tables, _ = sqltext.TablesUsed(stmt.Text[:stmt.Locking.Start] + stmt.Text[stmt.Locking.End:])
	v.tables = slices.DeleteFunc(v.tables, func(name string) bool {
		return stmt.With != nil && slices.ContainsFunc(stmt.With.CTEs, func(c sqltext.CTE) bool { return c.Name == name })
	})
	if len(v.tables) == 1 {
		v.table = model.TableName{Name: v.tables[0]}
	}
	return []verb{v}
}

// inner finds locking clauses below the top level, outside WITH.
func inner(stmt *sqltext.Statement) []verb {
	tokens, err := sqltext.Tokens(stmt.Text)
	if err != nil {
		return nil
	}
	for i, t := range tokens {
		if t.Start < stmt.Verb || !strings.EqualFold(t.In(stmt.Text), "FOR") || i+1 == len(tokens) {
			continue
		}
		switch word := strings.ToUpper(tokens[i+1].In(stmt.Text)); word {
		case "UPDATE", "SHARE", "NO", "KEY":
			mode := map[string]string{"UPDATE": "FOR UPDATE", "SHARE": "FOR SHARE", "NO": "FOR NO KEY UPDATE", "KEY": "FOR KEY SHARE"}[word]
			return []verb{{kind: model.Select, mode: mode, top: true}}
		}
	}
	return nil
}

func orderOf(stmt *sqltext.Statement) string {
	if stmt.OrderBy == nil {
		return ""
	}
	return oneLine(stmt.OrderBy.Body.In(stmt.Text))
}

func limitOne(stmt *sqltext.Statement) bool {
	return stmt.Limit != nil && strings.TrimSpace(stmt.Limit.Body.In(stmt.Text)) == "1"
}

// conflictColumns are those that ON CONFLICT DO UPDATE SET writes; nil for DO
// NOTHING.
func conflictColumns(clause string) []string {
	tokens, err := sqltext.Tokens(clause)
	if err != nil {
		return nil
	}
	start, depth := -1, 0
	for _, t := range tokens {
		switch word := strings.ToUpper(t.In(clause)); {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case word == "SET" && depth == 0 && start < 0:
			start = t.End
		case word == "WHERE" && depth == 0 && start >= 0:
			return setColumns(clause[start:t.Start])
		}
	}
	if start < 0 {
		return nil
	}
	return setColumns(clause[start:])
}

// setColumns are the columns of a SET list: names at depth 0 that stand first
// in an assignment, or in the list before a =.
func setColumns(body string) []string {
	tokens, err := sqltext.Tokens(body)
	if err != nil {
		return []string{}
	}
	out := []string{}
	depth, first := 0, true
	for _, t := range tokens {
		word := t.In(body)
		switch {
		case t.Kind == sqltext.TokenComment:
		case word == "(":
			depth++
		case word == ")":
			depth--
		case word == "," && depth == 0:
			first = true
		case word == "=" && depth == 0:
			first = false
		case first && (t.Kind == sqltext.TokenIdent || t.Kind == sqltext.TokenKeyword):
			out = append(out, identName(word))
			first = depth > 0
		}
	}
	return out
}

// identName is a name as the catalog has it.
func identName(word string) string {
	if strings.HasPrefix(word, `"`) {
		return strings.ReplaceAll(strings.Trim(word, `"`), `""`, `"`)
	}
	return strings.ToLower(word)
}

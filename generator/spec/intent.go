package spec

import (
	"errors"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// parseIntent reads CONSTRAINT or TABLE (COLUMNS) [where CONDITION], then
// optionally conflict or return.
func parseIntent(a *args, d *Declarations) {
	f, ok := a.need("a constraint, or a table with columns")
	if !ok {
		return
	}
	in := &Intent{Pos: a.pos(f)}
	table, columns := f, field{}
	if i := strings.IndexByte(f.text, '('); i > 0 {
		table = field{text: f.text[:i], offset: f.offset}
		columns = field{text: f.text[i:], offset: f.offset + i}
	} else if a.next < len(a.fields) && strings.HasPrefix(a.fields[a.next].text, "(") {
		columns, _ = a.take()
	}
	in.Pos = a.pos(table)
	if !isTable(table.text) {
		a.fail(diag.AnnotationForm, in.Pos, "%q is not the name of a table or constraint", table.text)
		return
	}
	if columns.text == "" {
		in.Constraint = unquoteName(table.text)
	} else {
		in.Table = unquoteName(table.text)
		if in.Columns, ok = a.columns(columns); !ok {
			return
		}
	}
	if a.intentTail(in) {
		d.Intent = in
	}
}

// columns reads (a, b, c).
func (a *args) columns(f field) ([]Name, bool) {
	if !strings.HasSuffix(f.text, ")") || strings.Count(f.text, "(") != 1 {
		a.fail(diag.AnnotationForm, a.pos(f), "the columns stand in one pair of parentheses, then comes a space")
		return nil, false
	}
	var names []Name
	offset := f.offset + 1
	for part := range strings.SplitSeq(f.text[1:len(f.text)-1], ",") {
		text := strings.TrimSpace(part)
		at := a.at(offset+len(part)-len(strings.TrimLeft(part, " \t")), max(len(text), 1))
		offset += len(part) + 1
		if !isTable(text) || strings.Contains(text, ".") {
			a.fail(diag.AnnotationForm, at, "%q is not the name of a column", text)
			return nil, false
		}
		name := Name{Value: unquoteName(text), Pos: at}
		for _, other := range names {
			if other.Value == name.Value {
				a.fail(diag.IntentColumns, at, "column %s stands twice in the intent", name.Value)
				return nil, false
			}
		}
		names = append(names, name)
	}
	return names, true
}

// intentModes say what a second request for the same row gets.
var intentModes = []string{"conflict", "return"}

// intentTail reads what follows the constraint or the columns.
func (a *args) intentTail(in *Intent) bool {
	if last := len(a.fields) - 1; last >= a.next {
		if mode := strings.ToLower(a.fields[last].text); slices.Contains(intentModes, mode) {
			in.OnConflict = mode
			a.fields = a.fields[:last]
		}
	}
	f, ok := a.take()
	switch {
	case !ok:
		return true
	case !strings.EqualFold(f.text, "where"):
		entry := a.fail(diag.AnnotationForm, a.pos(f), "unexpected %s after the %s", f.text, map[bool]string{true: "constraint", false: "columns"}[in.Constraint != ""])
		if slices.Contains(intentModes, strings.ToLower(f.text)) {
			entry.Hint("one of conflict and return, and it stands last: @intent payments (tenant_id, order_id) where status <> 'void' return")
		} else if near := diag.Nearest(f.text, append([]string{"where"}, intentModes...)); near != "" {
			entry.Hint("did you mean %s?", near)
		} else if in.Constraint != "" && isIdent(f.text) {
			entry.Hint("columns stand in parentheses: @intent %s (%s)", in.Constraint, f.text)
		}
		return false
	case in.Constraint != "":
		a.fail(diag.AnnotationForm, a.pos(f), "`where` belongs to a table with columns; a constraint has its own condition")
		return false
	}
	if a.next >= len(a.fields) {
		a.fail(diag.AnnotationForm, a.pos(f), "the condition after `where` is missing")
		return false
	}
	return a.condition(in)
}

// condition reads the rest as the predicate of a partial index.
func (a *args) condition(in *Intent) bool {
	last := a.fields[len(a.fields)-1]
	start := a.fields[a.next].offset
	in.Where = a.text.Value[start : last.offset+len(last.text)]
	c, err := sqltext.ParseCondition(in.Where)
	var refused *sqltext.Error
	if errors.As(err, &refused) {
		a.fail(diag.AnnotationForm, a.at(start+refused.Offset, 1), "the condition can't be that of an index: %s", refused.Message).
			Hint("write one condition on columns of the table: where status <> 'void'")
		return false
	}
	named := func(columns []sqltext.ColumnAt) []Name {
		var out []Name
		for _, col := range columns {
			out = append(out, Name{Value: col.Name, Pos: a.at(start+col.Offset, len(col.Name))})
		}
		return out
	}
	in.WhereNames, in.WhereFlags = named(c.Columns), named(c.Booleans)
	return true
}

// isTable reports whether s is a name, or schema.name, with or without double
// quotes.
func isTable(s string) bool {
	parts := strings.Split(s, ".")
	for _, part := range parts {
		if inner, ok := unquote(part); ok && part[0] == '"' && inner != "" {
			continue
		}
		if !isIdent(part) {
			return false
		}
	}
	return len(parts) <= 2
}

// unquoteName gives names as PostgreSQL stores them: without quotes, or in
// lower case.
func unquoteName(s string) string {
	parts := strings.Split(s, ".")
	for i, part := range parts {
		if inner, ok := unquote(part); ok {
			parts[i] = inner
		} else {
			parts[i] = strings.ToLower(part)
		}
	}
	return strings.Join(parts, ".")
}

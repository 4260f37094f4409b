package review

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

// tables describes every table that an operation touches.
func (src Source) tables(ops []*Operation) []Table {
	var names []string
	for _, op := range ops {
		names = append(append(names, op.Reads...), op.Writes...)
	}
	out := []Table{}
	for _, name := range sorted(names) {
		table := Table{Name: name}
		if t := src.table(name); t != nil {
			table.Constraints, table.Notes = constraints(t), traits(t.Traits)
		}
		out = append(out, table)
	}
	return out
}

// table finds a table by its written name.
func (src Source) table(name string) *schema.Table {
	n := model.TableName{Name: name}
	if s, rest, ok := strings.Cut(name, "."); ok {
		if t := src.Catalog.Table(model.TableName{Schema: s, Name: rest}); t != nil {
			return t
		}
	}
	return src.Catalog.Table(n)
}

func constraints(t *schema.Table) []string {
	var out []string
	for _, u := range t.Uniques {
		out = append(out, uniqueText(t, u))
	}
	for _, f := range t.ForeignKeys {
		text := f.Name + ": FOREIGN KEY (" + strings.Join(f.Columns, ", ") + ") REFERENCES " + shortName(f.References)
		if f.Cascades {
			text += ", cascades"
		}
		out = append(out, text)
	}
	for _, c := range t.Checks {
		out = append(out, c.Name+": CHECK ("+oneLine(c.Expression)+")")
	}
	for _, name := range t.Exclusions {
		out = append(out, name+": EXCLUDE")
	}
	return out
}

func uniqueText(t *schema.Table, u *schema.Unique) string {
	text := u.Name + ": UNIQUE"
	if u == t.Primary {
		text = u.Name + ": PRIMARY KEY"
	}
	columns := "an expression"
	if u.Columns != nil {
		columns = strings.Join(u.Columns, ", ")
	}
	text += " (" + columns + ")"
	if u.Where != "" {
		text += " WHERE " + oneLine(u.Where)
	}
	if u.NullsNotDistinct {
		text += " NULLS NOT DISTINCT"
	}
	if u.Deferrable {
		text += " DEFERRABLE"
	}
	return text
}

func traits(t model.TableTraits) []string {
	var out []string
	for _, trait := range []struct {
		has  bool
		text string
	}{
		{t.StatementTriggers, "statement-level triggers"}, {t.RowTriggers, "row triggers that may swallow a row"},
		{t.Rules, "rules"}, {t.Partitioned, "partitioned"}, {t.RowSecurity, "row-level security"}, {t.View, "a view"},
		{t.OtherWrites, "triggers or functions of its own that may write other tables"},
	} {
		if trait.has {
			out = append(out, trait.text)
		}
	}
	return out
}

// shortName leaves out the schema that everybody has.
func shortName(n model.TableName) string {
	if n.Schema == "public" {
		return n.Name
	}
	return n.String()
}

// pinned reports whether the columns decide about at most one row.
func pinned(t *schema.Table, columns []string) bool {
	return t != nil && slices.ContainsFunc(t.Uniques, func(u *schema.Unique) bool {
		return u.Columns != nil && u.Where == "" && within(u.Columns, columns)
	})
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(c string) bool { return !slices.Contains(all, c) })
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(c string) bool { return slices.Contains(b, c) })
}

package check

import (
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// nullable refuses result columns that an outer join leaves null although sqlc
// takes them for NOT NULL: the response would break its own schema, and the Go
// type can't hold the null.
func (c *checker) nullable(q *query, shape model.Shape) {
	columns, embeds := flattened(q.src.Columns)
	embedded := map[string]bool{}
	for _, n := range shape.OuterNulls {
		if n.Index >= len(columns) || !columns[n.Index].NotNull {
			continue
		}
		if table := embeds[n.Index]; table != "" {
			if !embedded[n.Relation] {
				c.embedMissing(q, n)
			}
			embedded[n.Relation] = true
			continue
		}
		at := found(q.decl, name(n.Relation)+dot+`\*`, `(?is)\A\s*SELECT\s+(\*)`, name(n.Relation)+dot+name(n.Column), name(n.Column))
		c.diags.Errorf(diag.NullabilityRisk, at, "%s of %s may be null, though sqlc takes it for NOT NULL: %s fills %s with nulls where nothing matches",
			n.Name, q.decl.Name, n.Join, n.Relation).Hint("%s", wayOutOfNull(n, shape.Kind))
	}
}

// wayOutOfNull: of a column of a WITH, sqlc knows that an outer join may leave
// it null; in UPDATE and DELETE it knows of no join at all.
func wayOutOfNull(n model.OuterNull, kind model.StatementKind) string {
	column := n.Relation + "." + n.Column
	switch {
	case !n.Plain:
		return "write coalesce(…, 0)::bigint AS " + n.Name + ", or the value and type that fit; or, where null is meant, select " + column + " itself"
	case kind == model.Update || kind == model.Delete:
		return "write coalesce(" + column + ", …) AS " + n.Name + "; or, where null is meant, move the whole join into a WITH and read that: sqlc then knows"
	}
	return "write coalesce(" + column + ", …) AS " + n.Name + "; or, where null is meant, make " + n.Relation +
		" a WITH " + n.Relation + " AS (SELECT …) and join that: sqlc then knows"
}

func (c *checker) embedMissing(q *query, n model.OuterNull) {
	at := found(q.decl, `sqlc\s*\.\s*embed\s*\(\s*`+name(n.Relation)+`\s*\)`)
	c.diags.Errorf(diag.NullabilityRisk, at, "sqlc.embed(%s) of %s has no room for null, and %s fills %s with nulls where nothing matches",
		n.Relation, q.decl.Name, n.Join, n.Relation).
		Hint("list its columns: %s.%s AS %q, …", n.Relation, n.Column, n.Relation+"."+n.Column)
}

// flattened are the columns that the statement returns, those of embedded
// tables each by itself, and by their places the tables they are embedded by.
func flattened(columns []sqlcrun.Column) (out []sqlcrun.Column, embeds map[int]string) {
	embeds = map[int]string{}
	for _, col := range columns {
		if col.Embed == "" {
			out = append(out, col)
			continue
		}
		for _, f := range col.EmbedFields {
			embeds[len(out)] = col.Embed
			out = append(out, f)
		}
	}
	return out, embeds
}

const dot = `"?\s*\.\s*"?`

func name(s string) string { return `\b` + regexp.QuoteMeta(s) + `\b` }

// found is the place of the first pattern that the query's SQL has, comments
// apart, or of the group in it; the query's head if it has none.
func found(d *spec.QueryDecl, patterns ...string) diag.Pos {
	text := sqlComment.ReplaceAllStringFunc(d.SQL.Text, func(s string) string { return strings.Repeat(" ", len(s)) })
	for _, p := range patterns {
		at := regexp.MustCompile(p).FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		start, end := at[len(at)-2], at[len(at)-1]
		line := strings.Count(text[:start], "\n")
		return diag.Pos{File: d.File, Line: d.SQL.Line + line, Col: start - strings.LastIndexByte(text[:start], '\n'), Width: end - start}
	}
	return d.Pos
}

var sqlComment = regexp.MustCompile(`--[^\n]*`)

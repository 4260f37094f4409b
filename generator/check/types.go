package check

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// unnamed matches the names that sqlc makes up for parameters without one.
var unnamed = regexp.MustCompile(`^(column_|dollar_)\d+$`)

// plainName is what parameters are called; sqlc gives others where it has
// misread the text.
var plainName = regexp.MustCompile(`^[\pL_][\pL\pN_$]*$`)

// fieldNames refuses names that sqlc turns into one field of a Go struct.
func (c *checker) fieldNames(q *query, columns []sqlcrun.Column) {
	seen := map[string]string{}
	for _, col := range columns {
		if other, ok := seen[col.GoField]; ok && col.GoField != "" {
			c.diags.Errorf(diag.NameCollision, q.decl.Pos, "%s and %s of %s are both the Go field %s", other, col.Name, q.decl.Name, col.GoField).
				Hint("give one of them another name")
		}
		seen[col.GoField] = col.Name
	}
}

func (c *checker) params(q *query, m *model.Query) {
	c.fieldNames(q, q.src.Params)
	for i, p := range q.src.Params {
		pos := paramPos(q.decl, p.Name)
		if p.Name == "" || unnamed.MatchString(p.Name) {
			c.diags.Errorf(diag.QueryUnsupport, q.decl.Pos, "parameter $%d of %s has no name", i+1, q.decl.Name).
				Hint("write @name, or @name::type where sqlc can't tell the type")
		} else if !plainName.MatchString(p.Name) {
			c.diags.Errorf(diag.ParamBroken, pos, "sqlc calls a parameter of %s %q, which is no name: it has replaced a wrong piece of the text", q.decl.Name, p.Name).
				Hint("write the parameter as sqlc.arg(name), with nothing but the name in the parentheses")
		}
		if p.Taken != "" {
			c.diags.Errorf(diag.NameCollision, pos, "the parameter @%s collides with the name %s in the code that sqlc emits for %s", p.Name, p.Taken, q.decl.Name).
				Hint("rename it, for example @%s_value; or set `query_parameter_limit: 0` in the sqlc file, which puts all parameters in structs", p.Name)
		}
		t := c.columnType(p, pos, "parameter @"+p.Name)
		m.Params = append(m.Params, model.Param{Number: i + 1, Name: p.Name, Type: t})
	}
}

func (c *checker) columns(q *query, m *model.Query) {
	c.fieldNames(q, q.src.Columns)
	for i, col := range q.src.Columns {
		if col.Embed != "" {
			m.Columns = append(m.Columns, c.embed(q, col))
			continue
		}
		if col.Name == "" || col.Name == "?column?" {
			c.diags.Errorf(diag.QueryUnsupport, q.decl.Pos, "column %d of %s has no name", i+1, q.decl.Name).
				Hint("give it one: AS name; and a type: (…)::text AS name")
		}
		m.Columns = append(m.Columns, c.column(col, q.decl.Pos))
	}
}

func (c *checker) column(col sqlcrun.Column, pos diag.Pos) model.Column {
	out := model.Column{Name: col.Name, JSON: c.cased(col.Name), GoName: col.GoField}
	if out.GoName == "" || strings.Contains(col.Name, ".") {
		out.GoName = goPath(col.Name)
	}
	out.Type = c.columnType(col, pos, "column "+col.Name)
	return out
}

// embed expands sqlc.embed(t): its columns are those of the table.
func (c *checker) embed(q *query, col sqlcrun.Column) model.Column {
	out := model.Column{Name: col.Name, JSON: c.cased(col.Name), GoName: col.GoField}
	if out.GoName == "" {
		out.GoName = goName(col.Name)
	}
	for _, f := range col.EmbedFields {
		out.Embed = append(out.Embed, c.column(f, q.decl.Pos))
	}
	if len(out.Embed) > 0 {
		return out
	}
	table := c.cat.Table(tableName(col.Embed))
	if table == nil {
		c.diags.Errorf(diag.CatalogUnknown, q.decl.Pos, "sqlc.embed names the table %s, which no migration makes", col.Embed).
			Hint("list the columns instead")
		return out
	}
	for _, tc := range table.Columns {
		t := tc.Type
		t.Nullable = !tc.NotNull
		out.Embed = append(out.Embed, model.Column{Name: tc.Name, JSON: c.cased(tc.Name), GoName: goName(tc.Name), Type: t})
	}
	return out
}

// columnType is the type of a parameter or column, with the Go type that sqlc
// emitted for it.
func (c *checker) columnType(col sqlcrun.Column, pos diag.Pos, what string) model.Type {
	name := col.TypeName.String()
	if goUntyped(col.GoType.Expr) {
		c.diags.Errorf(diag.QueryUnsupport, pos, "sqlc has no Go type for %s: it emitted interface{}", what).
			Hint("%s", untypedHint(c.cat, name, what, !col.NotNull))
	}
	t, ok := c.cat.Type(name)
	switch {
	case !ok && !goUntyped(col.GoType.Expr):
		c.diags.Errorf(diag.TypeUnsupported, pos, "%s has the type %s, which has no JSON form", what, name).
			Hint("cast it in the SQL, for example to text or jsonb")
	case col.ArrayDims > 1:
		c.diags.Errorf(diag.TypeUnsupported, pos, "%s is an array of %d dimensions", what, col.ArrayDims).
			Hint("use an array of one dimension, or cast it to jsonb: to_jsonb(…)")
	}
	t.Array = t.Array || col.Array
	t.Nullable = !col.NotNull
	t.GoType = col.GoType
	return t
}

func goUntyped(expr string) bool {
	expr = strings.TrimLeft(expr, "*[]")
	return expr == "interface{}" || expr == "any"
}

func untypedHint(cat *schema.Catalog, typeName, what string, nullable bool) string {
	if t, ok := cat.Type(typeName); ok && t.Kind != "" {
		return "add an override under `gen: go: overrides:` of the sqlc file: " + goOverride(t, typeName, nullable)
	}
	if strings.HasPrefix(what, "parameter") {
		return "add a cast: " + strings.TrimPrefix(what, "parameter ") + "::text"
	}
	return "add a cast: (…)::text AS name"
}

// tableName splits schema.table.
func tableName(s string) model.TableName {
	if before, after, ok := strings.Cut(s, "."); ok {
		return model.TableName{Schema: before, Name: after}
	}
	return model.TableName{Name: s}
}

// sameTable compares names where no schema means public.
func sameTable(a, b model.TableName) bool {
	return a.Name == b.Name && schemaOf(a) == schemaOf(b)
}

func schemaOf(t model.TableName) string {
	if t.Schema == "" {
		return "public"
	}
	return t.Schema
}

// paramPos is where a parameter stands in its query's SQL, the query's head if
// that can't be told.
func paramPos(d *spec.QueryDecl, name string) diag.Pos {
	at, width := findParam(d.SQL.Text, name)
	if at < 0 {
		return d.Pos
	}
	before := d.SQL.Text[:at]
	line := strings.Count(before, "\n")
	return diag.Pos{File: d.File, Line: d.SQL.Line + line, Col: at - strings.LastIndexByte(before, '\n'), Width: width}
}

// findParam finds @name, or name as the argument of sqlc.arg and sqlc.narg.
func findParam(text, name string) (at, width int) {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			break
		}
		i += from
		from = i + len(name)
		if from < len(text) && isWord(text[from]) {
			continue
		}
		before := strings.TrimRight(text[:i], "' ")
		if strings.HasSuffix(before, "@") || strings.HasSuffix(before, "arg(") {
			start := max(strings.LastIndexByte(before, '@'), strings.LastIndex(before, "sqlc."))
			return start, from - start
		}
	}
	return -1, 0
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// describe names a type in messages.
func describe(t model.Type) string {
	name := t.Name
	switch {
	case t.Kind == model.KindRecord && t.List:
		name = "a list of objects"
	case t.Kind == model.KindRecord:
		name = "an object"
	case name == "":
		name = string(t.Kind)
	}
	if t.Array && !strings.HasSuffix(name, "[]") {
		name += "[]"
	}
	return name
}

func quoted(s string) string { return strconv.Quote(s) }

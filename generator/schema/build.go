package schema

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

const defaultSchema = "public"

// builder applies migrations one statement after the other.
type builder struct {
	cat     *Catalog
	diags   *diag.List
	tables  map[model.TableName]*Table
	enums   map[model.TableName]*Enum
	domains map[model.TableName]*Domain
	indexes map[model.TableName]*index // unique or not, constraints' included
	others  map[model.TableName]*Table // composite types: a column list, no rows

	lines lines
	base  int      // where the text being applied begins in the file
	path  []string // search_path of the file, without the user's own schema
	// guarded: inside a DO block that applies only what isn't there yet.
	guarded bool
	// intent: the file is a migration that idemgen made for an intent.
	intent bool

	made     map[model.TableName]bool // every name that a table ever had
	mentions []mention
	// opaque: from here on, tables may have been made and changed out of sight.
	opaque bool
}

func build(files []File, diags *diag.List) *Catalog {
	b := &builder{
		cat: &Catalog{Markers: map[string]string{}, functions: map[string]bool{}, setReturns: map[string]bool{}, aggregates: map[string]bool{}}, diags: diags,
		tables: map[model.TableName]*Table{}, enums: map[model.TableName]*Enum{},
		domains: map[model.TableName]*Domain{}, indexes: map[model.TableName]*index{},
		others: map[model.TableName]*Table{}, made: map[model.TableName]bool{},
	}
	ordered, numbering := order(files, diags)
	b.cat.Numbering = numbering
	for _, f := range ordered {
		b.applyFile(f)
	}
	b.reportMentions()
	b.finish()
	return b.cat
}

func (b *builder) applyFile(f File) {
	b.cat.readMarkers(f)
	b.lines, b.base, b.path = newLines(f), 0, []string{defaultSchema}
	b.intent = intentMark.MatchString(f.Text)
	text := upPart(f.Text)
	result, err := pg.Parse(text)
	if err == nil {
		b.applyAll(text, result)
		return
	}
	for _, piece := range splitStatements(text) { // so that one bad statement doesn't hide the rest
		b.base = piece.Start
		b.applyText(piece.In(text))
	}
}

// applyText parses and applies a text that starts at b.base in the file.
func (b *builder) applyText(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if _, err := sqltext.Tokens(text); err != nil {
		b.reportSyntax(err)
		return
	}
	result, err := pg.Parse(text)
	if err != nil {
		_, err = sqltext.Parse(text) // the same error, its place in bytes
		b.reportSyntax(err)
		return
	}
	b.applyAll(text, result)
}

func (b *builder) reportSyntax(err error) {
	b.opaque = true
	var e *sqltext.Error
	if errors.As(err, &e) {
		b.diags.Errorf(diag.MigrationForm, b.pos(e.Offset, 0), "this migration can't be read: %s", firstLine(e.Message)).
			Hint("idemgen reads PostgreSQL's own SQL; psql's commands and templates have no place in a migration")
	}
}

func (b *builder) applyAll(text string, result *pg.ParseResult) {
	for _, raw := range result.Stmts {
		start := int(raw.StmtLocation)
		end := len(text)
		if raw.StmtLen > 0 {
			end = start + int(raw.StmtLen)
		}
		b.apply(raw.Stmt, sqltext.Span{Start: start, End: end}, text)
	}
}

// pos is the place of an offset of the text being applied.
func (b *builder) pos(offset, width int) diag.Pos {
	return b.lines.pos(b.base+max(offset, 0), width)
}

// schemaOf is the schema that a new object goes to.
func (b *builder) schemaOf(schema string) string {
	switch {
	case schema != "":
		return schema
	case len(b.path) > 0:
		return b.path[0]
	}
	return defaultSchema
}

// find looks a name up the way PostgreSQL does: as qualified, else along the
// search_path, else in public.
func find[T any](b *builder, all map[model.TableName]T, name model.TableName) (T, bool) {
	if name.Schema != "" {
		v, ok := all[name]
		return v, ok
	}
	for _, schema := range append(slices.Clone(b.path), defaultSchema) {
		if v, ok := all[model.TableName{Schema: schema, Name: name.Name}]; ok {
			return v, true
		}
	}
	var none T
	return none, false
}

// table finds a table for an ALTER and reports one that isn't there.
func (b *builder) table(rel *pg.RangeVar, missingOK bool) *Table {
	t, ok := find(b, b.tables, rangeName(rel))
	if !ok && !missingOK && !b.guarded {
		b.diags.Errorf(diag.CatalogUnknown, b.pos(int(rel.GetLocation()), len(rel.GetRelname())),
			"no migration makes the table %s", rangeName(rel)).
			Hint("%s", b.tableHint())
	}
	return t
}

func (b *builder) tableHint() string {
	if b.intent {
		return "a migration before this one must create it; or delete this migration if it was never applied"
	}
	return "a migration before this one must create it; a table of an extension can't be altered here"
}

// finish computes what depends on everything, and puts it in order.
func (b *builder) finish() {
	c := b.cat
	c.Tables = sortedValues(b.tables)
	c.Enums = sortedValues(b.enums)
	c.Domains = sortedValues(b.domains)
	c.composites = sortedValues(b.others)
	for _, d := range c.Domains {
		d.finish()
	}
	for _, t := range slices.Concat(c.Tables, c.composites) {
		t.finish()
	}
	for _, t := range c.Tables {
		c.joinCalls(t)
		t.joinPartitions()
	}
	for _, t := range c.Tables {
		t.joinBases()
	}
}

func sortedValues[T any](all map[model.TableName]T) []T {
	names := make([]model.TableName, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	slices.SortFunc(names, func(x, y model.TableName) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Schema, y.Schema))
	})
	out := make([]T, len(names))
	for i, n := range names {
		out[i] = all[n]
	}
	return out
}

// table finds a table of the finished catalog.
func (c *Catalog) table(name model.TableName) *Table { return c.tableIn(c.Tables, name) }

func (c *Catalog) tableIn(tables []*Table, name model.TableName) *Table {
	for _, schema := range c.schemas(name.Schema) {
		for _, t := range tables {
			if t.Name.Name == name.Name && t.Name.Schema == schema {
				return t
			}
		}
	}
	return nil
}

// schemas are those to search for a name of this schema.
func (c *Catalog) schemas(schema string) []string {
	if schema != "" {
		return []string{schema}
	}
	return append([]string{defaultSchema}, c.path...)
}

// firstLine cuts a message that quotes all the rest of the file.
func firstLine(message string) string {
	line, _, more := strings.Cut(message, "\n")
	if more {
		return strings.TrimRight(line, "\r") + " …"
	}
	return line
}

// Package schema is what the migrations say: tables, columns, constraints,
// indexes, enums and domains after every migration was applied in order, and
// what a query does to them. With sqltext it is all that knows oliphant.
package schema

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// File is one migration file.
type File struct {
	Path string // relative to the folder of idemgen.yaml
	Text string
}

// Catalog is the schema after all migrations.
type Catalog struct {
	Tables  []*Table // by name
	Enums   []*Enum
	Domains []*Domain
	// Markers are the intents that idemgen's own migrations were made for, by
	// their marker comment, also where the file was renamed or renumbered.
	Markers map[string]string // marker id to file
	// Runtime is the version of the runtime's tables that the migrations make, 0 for none.
	Runtime int
	// Sweep is what the latest migration for pg_cron was made for; the zero value for none.
	Sweep SweepMark
	// Numbering of the migration folder.
	Numbering Numbering

	path       []string        // schemas that migrations put in search_path, beside public
	composites []*Table        // composite types
	functions  map[string]bool // names of the functions that migrations make
	setReturns map[string]bool // those of them that give sets of rows
	aggregates map[string]bool // and of the aggregates
}

// SweepMark is what a migration that schedules sweeping was made for.
type SweepMark struct {
	Version  int    // of the procedure
	Schedule string // as pg_cron reads it
	File     string
}

// Numbering is how a folder's migrations are numbered.
type Numbering struct {
	Timestamp bool
	Width     int // digits of sequential numbers
	Last      int64
}

// Table is a table, or a view.
type Table struct {
	Name        model.TableName // Schema is always set: "public" by default
	Columns     []*Column
	Primary     *Unique // nil if none; also in Uniques
	Uniques     []*Unique
	ForeignKeys []*ForeignKey
	Checks      []*Check
	Exclusions  []string // names of EXCLUDE constraints
	Traits      model.TableTraits
	Pos         diag.Pos

	history history
	loose   bool // it may have columns that aren't known
}

// Column is a column of a table.
type Column struct {
	Name      string
	Type      model.Type // GoType empty; Checks from the column's domain only
	NotNull   bool
	Default   string // deparsed, "" for none
	Generated bool   // GENERATED ALWAYS (stored or identity): can't be written
	Identity  bool
	Pos       diag.Pos

	ref         typeRef
	defaultExpr *pg.Node
}

// Unique is a unique constraint or index.
type Unique struct {
	Name             string
	Columns          []string // nil for an index on expressions
	Where            string   // predicate, deparsed
	NullsNotDistinct bool
	Deferrable       bool
	Constraint       bool   // made by a constraint, not only an index
	File             string // of the CREATE INDEX, "" for a constraint

	where *pg.Node
}

// ForeignKey is a foreign key.
type ForeignKey struct {
	Name       string
	Columns    []string
	References model.TableName
	RefColumns []string
	Deferrable bool
	// Cascades: a change of the referenced row changes or deletes rows here.
	Cascades bool
}

// Check is a CHECK constraint. Rules are its translation; nil where it has none.
type Check struct {
	Name       string
	Expression string   // deparsed
	Columns    []string // that it mentions
	// Rules by column, if the whole expression is a conjunction of rules of
	// one column each.
	Rules map[string][]model.Check

	expr *pg.Node
}

// Enum is an enumerated type.
type Enum struct {
	Name   model.TableName
	Labels []string
}

// Domain is a domain over a base type.
type Domain struct {
	Name    model.TableName
	Base    model.Type
	NotNull bool
	Checks  []*Check // Columns empty, Rules under ""

	base typeRef
}

// Build reads migrations (goose, or plain SQL files) in numeric order, Up part
// only. What it can't understand and what matters is a diagnostic.
func Build(files []File, diags *diag.List) *Catalog { return build(files, diags) }

// Table finds a table by name; an empty schema searches public.
func (c *Catalog) Table(name model.TableName) *Table { return c.table(name) }

// Type resolves a SQL type name, as written in SQL or reported by sqlc
// ("pg_catalog.int8", "bigserial", "payment_status", "numeric(12,2)"), to its
// type with enum labels, domain checks and length.
func (c *Catalog) Type(name string) (model.Type, bool) { return c.resolveType(name) }

// Analyze says what the statement sql ($n parameters) does. Positions of
// diagnostics are pos, moved by the place inside the text where that is known.
func (c *Catalog) Analyze(sql string, pos diag.Pos, diags *diag.List) model.Shape {
	return c.analyze(sql, pos, diags)
}

// Column finds a column, nil if there is none.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

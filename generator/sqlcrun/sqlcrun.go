// Package sqlcrun runs sqlc as a program and reads what it knows: its JSON
// request, and the exact Go types of the package that it emitted. It is the
// only part of the generator that starts processes.
package sqlcrun

import (
	"context"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
)

// Entry is one pgx/v5 entry of one sqlc.yaml. Paths are relative to the folder
// of idemgen.yaml, with slashes.
type Entry struct {
	ConfigFile  string
	Pos         diag.Pos // of the entry in the sqlc file
	Schema      []string // files or folders, in sqlc's order
	SchemaFiles []string // the .sql files that Schema names, in sqlc's order
	Queries     []string
	QueryFiles  []string // the .sql files that Queries name, sorted
	Package     model.GoPackage
	Out         string

	file   map[string]any // the sqlc file as written
	raw    map[string]any // the entry as written
	outPos diag.Pos       // of gen.go.out
	json   string         // what its own gen.json writes, "" if it has none
	// alias is the name that emitted code imports the package by, "" where its
	// own name is unambiguous.
	alias string
}

// Query is one query as sqlc reports it, with the Go types that it emitted.
type Query struct {
	Name     string
	Command  string // without the colon
	File     string // base name, as sqlc reports it
	SQL      string
	Params   []Column // in order of number
	Columns  []Column
	Insert   model.TableName // insert_into_table
	Comments []string        // without "--", in order
	Entry    *Entry
}

// Column is a parameter or a result column.
type Column struct {
	Name       string
	NotNull    bool
	Array      bool
	ArrayDims  int
	TypeName   model.TableName // schema and name of the type; schema "" where sqlc gives none
	Table      model.TableName
	TableAlias string
	Slice      bool   // sqlc.slice
	Embed      string // table of a sqlc.embed, "" for none
	GoField    string // of the Params or Row struct, "" where sqlc emitted no struct
	GoType     model.GoType
	// Taken is the name of the method's plain argument where the code that sqlc
	// emitted uses that name for something else, so that it can't be compiled.
	Taken string
	// EmbedFields are the fields of the embedded model struct, by column order.
	EmbedFields []Column
}

// Output is what one run gave.
type Output struct {
	Entries []*Entry
	Queries []*Query
	Version string // sqlc's, as it says it: v1.31.1
	// Files are what sqlc emitted, by path relative to the folder of
	// idemgen.yaml; the caller reconciles them. With NoSqlc: what is there.
	Files map[string][]byte
}

// Options say how sqlc is found and run.
type Options struct {
	Tree    *files.Tree // the folder of idemgen.yaml
	Configs []string    // sqlc files, relative to the tree
	Command []string    // nil: the module's tool, PATH, `go run` of the pinned version
	// Place says where the configuration names a sqlc file (key sqlc) or the
	// program of the command (key command); nil where nothing names them.
	Place func(key, value string) diag.Pos
	// Pending are migrations that will be written with this run: sqlc reads
	// them as if they were there, so that a second run gives the same.
	Pending []files.File
	// NoSqlc reads the Go package on disk and the JSON that the entry's own
	// `gen: json:` names, and starts no process.
	NoSqlc bool
}

// place is where the configuration names a value, otherwise where it does not.
func (o Options) place(key, value string, otherwise diag.Pos) diag.Pos {
	if o.Place == nil {
		return otherwise
	}
	return o.Place(key, value)
}

// Entries reads the sqlc files without running sqlc: what migrations and
// queries there are.
func Entries(opts Options, diags *diag.List) []*Entry { return readEntries(opts, diags) }

// Run runs sqlc into a temporary folder and reads the result. Nothing in the
// user's tree is written. Errors that sqlc reports are added to diags; the
// error is for what kept it from running.
func Run(ctx context.Context, opts Options, entries []*Entry, diags *diag.List) (*Output, error) {
	return run(ctx, opts, entries, diags)
}

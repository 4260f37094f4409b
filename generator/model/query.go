package model

import "github.com/idemgen/idemgen/generator/diag"

// Query is one sqlc query as idemgen uses it.
type Query struct {
	Name    string
	Command string // one | many | exec | execrows | execresult | batchone | batchmany | batchexec | copyfrom
	File    string // relative to the configuration file's folder
	Pos     diag.Pos
	SQL     string // with $n, as sqlc resolved it; no final semicolon
	Params  []Param
	Columns []Column
	Package GoPackage
	Shape   Shape
}

// Param is $Number.
type Param struct {
	Number int
	Name   string
	Type   Type // nullable, as sqlc says
}

// Column is a column that a statement returns.
type Column struct {
	Name   string // as returned; dots nest: customer.name
	JSON   string // the member in a response: Name in the service's case, dots nest
	GoName string // field of the emitted output struct; dotted like Name: Customer.Name
	Type   Type
	// Embed holds the columns of a sqlc.embed(t); the statement returns them
	// flattened, in place, under their own names.
	Embed []Column
}

// GoPackage is a package that sqlc emitted.
type GoPackage struct {
	Name   string // db
	Import string // example.com/payments/internal/db
}

// Type is a SQL type with all that JSON, Go and OpenAPI need to know.
type Type struct {
	Kind      Kind
	Name      string // the SQL name, fit for a cast: text, numeric(12,2), public.payment_status
	Nullable  bool
	Array     bool // one-dimensional array of Kind
	NoNulls   bool // of an array: a request's elements are not null
	Length    int  // varchar(n), char(n); 0 for none
	Enum      []string
	Checks    []Check
	Members   []Member // KindRecord: the element's members
	List      bool     // KindRecord: an array of records
	GoType    GoType   // as sqlc emitted it
	Precision int      // numeric(p,s); 0 for none
	Scale     int
}

// Member is a member of a record.
type Member struct {
	Name     string
	GoName   string
	Type     Type
	Required bool
}

// GoType is a Go type expression and the imports that it needs.
type GoType struct {
	Expr    string   // pgtype.Numeric, *string, []int64, db.PaymentStatus
	Imports []string // import paths, with "alias " before it where one is needed
}

// Kind is the class of a SQL type: what decides its JSON form.
type Kind string

// The kinds; language.md section 4. They equal the names of idem's kinds.
const (
	KindBool        Kind = "Bool"
	KindInt2        Kind = "Int2"
	KindInt4        Kind = "Int4"
	KindInt8        Kind = "Int8"
	KindNumeric     Kind = "Numeric"
	KindFloat4      Kind = "Float4"
	KindFloat8      Kind = "Float8"
	KindText        Kind = "Text" // text, varchar, char, citext, enum, name
	KindUUID        Kind = "UUID"
	KindTimestamptz Kind = "Timestamptz"
	KindTimestamp   Kind = "Timestamp"
	KindDate        Kind = "Date"
	KindTime        Kind = "Time"
	KindInterval    Kind = "Interval"
	KindBytea       Kind = "Bytea"
	KindJSON        Kind = "JSON"   // json, jsonb: any value
	KindRecord      Kind = "Record" // json, jsonb with a known column list (line items), or a list for `each`
)

// Check is a rule of the schema, checked before the transaction.
type Check struct {
	Op     CheckOp
	Value  string   // CheckMin …: the bound; CheckPattern: a regular expression in Go's syntax
	Values []string // CheckIn
	Name   string   // the constraint that it comes from, "" for the bind's own
	// Rounded: it is about the value as a numeric(p,s) stores it, rounded to
	// Scale digits behind the point.
	Rounded bool
	Scale   int
}

// CheckOp tells the rules apart.
type CheckOp string

// The rules. Bounds are inclusive unless the name says otherwise.
const (
	CheckMin          CheckOp = "min"
	CheckMax          CheckOp = "max"
	CheckExclusiveMin CheckOp = "exclusive_min"
	CheckExclusiveMax CheckOp = "exclusive_max"
	CheckMinLength    CheckOp = "min_length" // characters
	CheckMaxLength    CheckOp = "max_length"
	CheckIn           CheckOp = "in"
	CheckNotEqual     CheckOp = "not_equal"
	CheckPattern      CheckOp = "pattern"
)

// Shape is what the SQL of a query does, as far as the generator must know.
type Shape struct {
	Kind          StatementKind
	Target        TableName   // insert, update, delete
	TargetAlias   string      // the alias the statement gives it, "" for none
	Writes        []TableName // with those of data-modifying CTEs, and the tables behind views
	Reads         []TableName
	InsertColumns []string // resolved, also where the statement has no list
	OnConflict    string   // "" | nothing | update
	SingleValues  bool     // INSERT … VALUES with one row: always exactly one row, unless OnConflict is nothing or a guard
	ValuesOfSets  bool     // INSERT … VALUES with one row that calls a function which gives several, or may: any number of rows
	Returning     bool
	ModifyingCTE  bool
	Rewrites      bool // it updates or deletes rows, in a CTE or by ON CONFLICT too
	SkipLocked    bool // or NOWAIT
	RowLocks      bool // FOR UPDATE and kin
	Grouped       bool // SELECT with aggregates or functions that may be, GROUP BY, DISTINCT, set operations, LIMIT, window functions
	Feeds         []Feed
	Recordsets    []Recordset
	Compared      []int // parameters of which every use is a comparison, in order
	// OuterNulls are the result columns that an outer join may leave null, in
	// order.
	OuterNulls []OuterNull
	// Calls: it calls a function that migrations make, or that is in a schema of
	// its own; such a one may write any table.
	Calls bool
	// EarlyCalls: a sub-select in its FROM or WITH calls a function that has an
	// effect, which PostgreSQL may do before it looks at conditions in WHERE.
	EarlyCalls bool
	// TargetTraits are of the target table and, joined, of all that Writes names.
	TargetTraits TableTraits
}

// StatementKind is the verb of a statement.
type StatementKind string

// The kinds of statement.
const (
	Select StatementKind = "select"
	Insert StatementKind = "insert"
	Update StatementKind = "update"
	Delete StatementKind = "delete"
)

// Feed says that a parameter reaches a column.
type Feed struct {
	Param    int
	Table    TableName
	Column   string
	Assigned bool // stored (INSERT, SET); false: compared by = in the WHERE
	Plain    bool // nothing but casts between them
}

// Recordset is a json or jsonb parameter that is used only in
// jsonb_to_recordset and kin.
type Recordset struct {
	Param   int
	List    bool // false for jsonb_to_record
	Columns []RecordColumn
}

// RecordColumn is one column of a column definition list.
type RecordColumn struct {
	Name string
	Type string // SQL name
	// Feeds is the column of a table that it is stored in, if any.
	Table  TableName
	Column string
}

// OuterNull is a result column that is null where an outer join finds nothing.
type OuterNull struct {
	Index    int    // among the columns that the statement returns, embedded ones each by itself
	Name     string // of the result column
	Join     string // LEFT JOIN, RIGHT JOIN, FULL JOIN
	Relation string // alias of what may be missing
	Column   string // of the relation
	Plain    bool   // it is that column, not an expression with it
}

// TableTraits are the properties of a table that decide a strategy.
type TableTraits struct {
	StatementTriggers bool
	RowTriggers       bool // BEFORE or INSTEAD OF: may return NULL
	Rules             bool
	Partitioned       bool
	RowSecurity       bool
	View              bool
	// OtherWrites: triggers of any kind, or functions of the user's in defaults
	// and checks, which may write any table.
	OtherWrites bool
}

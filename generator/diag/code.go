package diag

// Code names a kind of diagnostic; it never changes its meaning. `idemgen
// explain CODE` prints its entry in the registry (explain.go).
type Code string

// Configuration and files.
const (
	ConfigSyntax   Code = "IDEM001" // idemgen.yaml, a sqlc file or a spec is not valid YAML
	ConfigKey      Code = "IDEM002" // unknown or repeated key
	ConfigValue    Code = "IDEM003" // a value of the wrong kind or out of range
	ConfigMissing  Code = "IDEM004" // a required key or file is missing
	SqlcFailed     Code = "IDEM005" // sqlc reported errors
	SqlcConfig     Code = "IDEM006" // sqlc.yaml can't be used
	GoPackage      Code = "IDEM007" // the package that sqlc emitted can't be read
	EditedFile     Code = "IDEM008" // an emitted file was edited by hand
	ForeignFile    Code = "IDEM009" // a file of another origin is in the way
	NotYet         Code = "IDEM010" // a word of the language that this version doesn't do yet
	AnnotationForm Code = "IDEM011" // malformed arguments of an annotation
	UnknownWord    Code = "IDEM012" // unknown annotation
	RepeatedWord   Code = "IDEM013" // an annotation that may stand only once
	SpecForm       Code = "IDEM014" // malformed endpoint spec
)

// Migrations and SQL.
const (
	MigrationForm   Code = "IDEM020" // a migration that can't be read
	MigrationOrder  Code = "IDEM021" // goose and sqlc would read the migrations in different orders
	CatalogUnknown  Code = "IDEM022" // a table, column or type that no migration makes
	QuerySyntax     Code = "IDEM023" // SQL that PostgreSQL's grammar refuses
	QueryCorrupt    Code = "IDEM024" // SQL that sqlc changes silently (#, -- inside, =@x)
	QueryUnsupport  Code = "IDEM025" // MERGE, sqlc.slice, interface{}, unnamed parameters …
	NameCollision   Code = "IDEM026" // names that meet: idem_*, Go names after casing, reserved names
	TypeUnsupported Code = "IDEM027" // a type that has no JSON form
	NullabilityRisk Code = "IDEM028" // a column that sqlc believes NOT NULL but may be null
	ParamBroken     Code = "IDEM029" // @name or sqlc.arg(name) of which sqlc makes something else than a parameter of that name
)

// Operations.
const (
	BindUnknown      Code = "IDEM040" // a source that does not exist
	BindType         Code = "IDEM041" // a source that does not fit its parameter
	RouteConflict    Code = "IDEM042" // two operations on one route, or one name
	RouteForm        Code = "IDEM043" // a method, path or status that can't be
	KeyRule          Code = "IDEM044" // a key rule that can't work here
	IntentColumns    Code = "IDEM045" // an intent whose columns can't hold it
	IntentReturn     Code = "IDEM046" // `return` without the scope column
	ProblemForm      Code = "IDEM047" // a problem with a status or code that can't be declared
	ColumnUnknown    Code = "IDEM048" // a column that the statement doesn't return
	HeaderForm       Code = "IDEM049" // a response header that can't be set
	PolicyForm       Code = "IDEM050" // a policy that contradicts itself
	ExampleForm      Code = "IDEM051" // an example that the schema refuses
	StepOrder        Code = "IDEM052" // a step that uses a later or unknown one
	ScopeMissing     Code = "IDEM053" // no scope
	ConstraintUnused Code = "IDEM054" // @error of a constraint that the operation can't violate
	ScopeForged      Code = "IDEM055" // the request, not the caller, says whose a row is
	ScopeUnused      Code = "IDEM056" // an operation that does the same for every caller
	EventForm        Code = "IDEM060" // an event that the statement can't write
)

package idem

// Field is one declared input of an operation.
type Field struct {
	From     From
	Name     string // body: the path of members, joined by dots
	Kind     Kind
	Array    bool
	NoNulls  bool // Array: null elements are refused, since a Go function takes it
	Required bool
	Nullable bool    // null is a value; where false, null is refused
	Default  *string // canonical text, used where the member is absent
	Length   int     // characters of a varchar(n), char(n); 0: unbounded
	Enum     []string
	Checks   []Check
	Elem     []Field // KindRecord: the members of the record, or of each element of the list
	List     bool    // KindRecord: a list of records
	Scope    bool    // the field that the scope is; not part of the fingerprint
}

// From is the part of a request that a field comes from.
type From uint8

// The parts of a request.
const (
	FromPath From = iota
	FromQuery
	FromHeader
	FromBody
	FromCaller
)

// Kind is the class of a field's SQL type: what decides its JSON form, its
// canonical text and its fingerprint.
type Kind uint8

// The kinds; language.md section 4.
const (
	KindText Kind = iota // text, varchar, char, citext, enums
	KindBool
	KindInt2
	KindInt4
	KindInt8
	KindNumeric
	KindFloat4
	KindFloat8
	KindUUID
	KindTimestamptz
	KindTimestamp
	KindDate
	KindTime
	KindInterval
	KindBytea
	KindJSON
	KindRecord // json or jsonb with known members, or the list of an `each`
)

// Check is a rule of the schema that is checked before the transaction.
// Bounds are in canonical text and compared exactly.
type Check struct {
	Op     CheckOp
	Value  string
	Values []string
	// Rounded: the rule is that of a numeric(p,s), which sees the value as it is
	// stored: rounded to Scale digits behind the point, half away from zero.
	Rounded bool
	Scale   int
	// Problem is the declared answer (@error) to the constraint that the rule is
	// made of: given where nothing else is wrong with the request.
	Problem *Problem
}

// CheckOp tells the rules apart.
type CheckOp uint8

// The rules.
const (
	CheckMin CheckOp = iota
	CheckMax
	CheckExclusiveMin
	CheckExclusiveMax
	CheckMinLength // characters
	CheckMaxLength
	CheckIn
	CheckNotEqual
	CheckPattern // a regular expression in Go's syntax
)

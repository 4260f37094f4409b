package idem

// Value is one input in canonical form: the text that is sent to PostgreSQL as
// the parameter, and that the fingerprint is made of. The zero Value is absent.
type Value struct {
	Set  bool   // sent, or filled from its default
	Null bool   // Set, and null
	Text string // canonical text for the field's Kind; arrays are PostgreSQL array literals; records are JSON
	// Elems are the elements of a list that runs a statement each; the values
	// of an element are in the order of Field.Elem. A single record has one.
	Elems [][]Value

	// filled: from the default. Such a value is not part of the fingerprint,
	// so that a default added or changed by a deploy never refuses a retry.
	filled bool
	// items are the elements of an array, for its checks and its fingerprint.
	items []Value
}

// sent says whether the request named the value, be it null: what has() asks.
func (v Value) sent() bool { return v.Set && !v.filled }

func nullValue() Value { return Value{Set: true, Null: true} }

func textValue(text string) Value { return Value{Set: true, Text: text} }

// valueFault says why something is not a value of its kind; it becomes a FieldError.
type valueFault struct{ code, detail string }

func wantKind(k Kind) *valueFault {
	return &valueFault{"type", "must be " + kinds[k].json}
}

func outOfRange(k Kind) *valueFault {
	return &valueFault{"range", "is out of range for " + rangeNames[k]}
}

var rangeNames = map[Kind]string{
	KindInt2: "smallint", KindInt4: "integer", KindInt8: "bigint", KindNumeric: "numeric",
	KindFloat4: "real", KindFloat8: "double precision", KindTimestamptz: "timestamp with time zone",
	KindTimestamp: "timestamp", KindDate: "date", KindTime: "time", KindInterval: "interval",
	KindJSON: "a number in a document",
}

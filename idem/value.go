package idem

// Value is one input in canonical form: the text that is sent to PostgreSQL as
// the parameter, and that the fingerprint is made of. The zero Value is absent.
type Value struct {
	Set  bool   // sent, or filled from its default
	Null bool   // Set, and null
	Text string // canonical text for the field's Kind; arrays are PostgreSQL array literals; records are JSON
	// Elems are the elements of a list that runs a statement each; the values
	// of an element are in the order of Field.Elem.
	Elems [][]Value
}

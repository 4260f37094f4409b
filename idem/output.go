package idem

// OutputColumn says where one member of a response body goes. Emitted output
// structs list theirs; Service.Call fills them.
type OutputColumn struct {
	Path  string // the member, nested ones joined by dots
	Kind  Kind
	Array bool
	Into  any // pointer to the Go field, of the type that sqlc emitted
	// List, for a member that is an array of objects: called once per element,
	// it grows the slice and returns the element's columns. Into is nil then.
	List func() []OutputColumn
}

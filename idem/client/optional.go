package client

import "encoding/json"

// Optional is a member that may be left out, where leaving it out and null mean
// different things (PATCH). With the struct tag `json:"name,omitzero"` the zero value
// is not sent.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some is a member that is sent.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// IsZero reports that the member is left out; encoding/json asks for `omitzero`.
func (o Optional[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// UnmarshalJSON reads a value that is there, null too.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	return json.Unmarshal(data, &o.Value)
}

package render

import "github.com/idemgen/idemgen/generator/model"

// Example is a valid request body of an operation as JSON: its @example, or one
// made of the inputs that are required; "" where it takes none.
func Example(op *model.Operation) string {
	if op.Example != "" {
		return op.Example
	}
	return encoded(exampleBody(op))
}

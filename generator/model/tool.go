package model

import "slices"

// Tool says that agents can call an operation, and what they are told of it.
type Tool struct {
	Name        string
	Description string
	// KeyArgument: the key may come as an argument, beside the operation's own.
	KeyArgument bool
	// Destructive: it may change or delete what is there; false: it only adds.
	Destructive bool
	// OpenWorld: it may reach other systems than the database.
	OpenWorld bool
}

// MethodTool stands in place of a method where a tool is the only way to an
// operation; its Path is the tool's name.
const MethodTool = "TOOL"

// OnlyTool reports whether nothing but a tool call reaches the operation: it has no
// route.
func (op *Operation) OnlyTool() bool { return op.Method == MethodTool }

// ReadOnly reports whether the operation changes nothing. What can't be seen, the
// inside of functions, counts as a change.
func (op *Operation) ReadOnly() bool {
	return !slices.ContainsFunc(op.Steps, func(s *Step) bool {
		shape := &s.Query.Shape
		return s.Go != nil || shape.Kind != Select || shape.ModifyingCTE || shape.Calls || len(s.Events) > 0
	})
}

// WholeArgument is the argument of a tool that is the whole body over HTTP.
const WholeArgument = "body"

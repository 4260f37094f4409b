package idem

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// ToolSpec makes an operation one that agents can call. The zero value: none.
type ToolSpec struct {
	// Definition is JSON, as a ToolDefinition has it.
	Definition string
	// KeyArgument: the key may come as the argument idempotency_key.
	KeyArgument bool
}

// ToolDefinition is what agents are told of a tool. As JSON it is a tool of the
// Model Context Protocol.
type ToolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"` // JSON Schema of an object
	Hints       ToolHints       `json:"annotations"`
}

// ToolHints say what a tool does to its surroundings. They are derived from the
// statements, so they hold; what can't be seen counts as the worse.
type ToolHints struct {
	ReadOnly    bool `json:"readOnlyHint"`    // it changes nothing
	Destructive bool `json:"destructiveHint"` // it may change or delete what is there, not only add
	Idempotent  bool `json:"idempotentHint"`  // the same call with the same key again does nothing
	OpenWorld   bool `json:"openWorldHint"`   // it may reach other systems than the database
}

// Tool is an operation as agents call it, over whatever transport. C is the emitted
// Caller. It is safe for concurrent use.
type Tool[C any] struct {
	ToolDefinition
	Operation Name
	// TakesKey: a call brings its key; without one it is refused. Other tools read
	// only, or make the key of their arguments.
	TakesKey bool

	call func(ctx context.Context, caller C, key string, arguments []byte) (ToolResult, error)
}

// ToolResult is what a call was answered with.
type ToolResult struct {
	// Content is JSON: the body of the answer over HTTP, byte for byte the same when
	// it is replayed. Nil where the answer has none, or was not stored (record=none).
	Content  json.RawMessage
	Status   int  // of HTTP: 2xx, or what @status says
	Replayed bool // recorded earlier: this call has done nothing
}

// Call runs the tool for a caller, with the same claim, transaction and record as
// over HTTP; the arguments are one JSON object. The key is ignored where the tool
// takes none; "" is that of the argument idempotency_key. Every error is a
// *ToolError. Where ctx ends first, the work goes on: the same call again gets its
// answer.
func (t Tool[C]) Call(ctx context.Context, caller C, key string, arguments []byte) (ToolResult, error) {
	return t.call(ctx, caller, key, arguments)
}

// ToolsOf lists the operations of a service that agents can call, by the names of
// the tools. Values gives those of Config.Caller.
func ToolsOf[C any](s *Service, values func(C) []any) []Tool[C] {
	var out []Tool[C]
	for _, op := range s.operations {
		if op.tool == nil {
			continue
		}
		out = append(out, Tool[C]{
			ToolDefinition: op.tool.definition, Operation: op.Name, TakesKey: op.takesKey(),
			call: func(ctx context.Context, caller C, key string, arguments []byte) (ToolResult, error) {
				return s.callTool(ctx, op, values(caller), key, arguments)
			},
		})
	}
	slices.SortFunc(out, func(a, b Tool[C]) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// takesKey reports whether a tool call has to bring a key.
func (op *operation) takesKey() bool {
	return op.Key.From == KeyHeader && (op.Key.Required || !op.tool.definition.Hints.ReadOnly)
}

// ToolError is why a call has no result.
type ToolError struct {
	// Problem is what the operation or the runtime says: status, code, title, fields.
	Problem *Error
	// Retryable: the same call with the same key is worth another try, after
	// RetryAfter where that is known. Otherwise the answer is final for this key:
	// another try needs other arguments, and another key.
	Retryable  bool
	RetryAfter time.Duration
}

// Error gives the problem in one line.
func (e *ToolError) Error() string { return e.Problem.Error() }

// Unwrap gives the problem.
func (e *ToolError) Unwrap() error { return e.Problem }

// Refusal makes a ToolError of an error that came before the call, like that of a
// function which says who calls: an *Error as it is, another as 401 unauthenticated.
func Refusal(err error) *ToolError {
	own, wrong := ownError(err)
	if own == nil {
		own = unauthenticated(cmp.Or(wrong, err))
	}
	return toolError(own)
}

func toolError(e *Error) *ToolError {
	return &ToolError{Problem: asArguments(e), Retryable: e.Retryable(), RetryAfter: e.retryAfter}
}

// callTool is Tool.Call.
func (s *Service) callTool(ctx context.Context, op *operation, caller []any, key string, arguments []byte) (ToolResult, error) {
	ans, meta, err := s.callWith(ctx, op, func() (*invocation, *Error) { return s.admitTool(op, caller, key, arguments) })
	if err != nil {
		own, wrong := ownError(err)
		if own == nil { // the host has gone, or lost patience: whether it was done is not known
			own = errUnavailable(cmp.Or(wrong, err))
		}
		return ToolResult{}, toolError(own)
	}
	result := ToolResult{Status: meta.Status, Replayed: meta.Replayed}
	if len(ans.body) > 0 {
		result.Content = bytes.Clone(ans.body)
	}
	return result, nil
}

// readDefinition reads the emitted JSON.
func readDefinition(text string) (d ToolDefinition, err error) {
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return d, fmt.Errorf("the definition of the tool: %w", err)
	}
	if d.Name == "" || len(d.InputSchema) == 0 {
		return d, fmt.Errorf("the definition of the tool has no name or no schema")
	}
	return d, nil
}

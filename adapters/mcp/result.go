package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idemgen/idemgen/idem"
)

// MetaReplayed is the member of a result's _meta that says that the result is one
// recorded earlier, and that this call has done nothing.
const MetaReplayed = "idempotencyReplayed"

// success is a result: the JSON as text, and as structured content where it is an
// object. A replay has the same, and says in _meta that it is one.
func success(r idem.ToolResult) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{}, IsError: r.Status >= http.StatusBadRequest}
	if r.Replayed {
		out.Meta = sdk.Meta{MetaReplayed: true}
	}
	if len(r.Content) > 0 {
		show(out, r.Content)
	}
	return out
}

func show(out *sdk.CallToolResult, content json.RawMessage) {
	out.Content = []sdk.Content{&sdk.TextContent{Text: string(content)}}
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		out.StructuredContent = content
	}
}

// Failure is the content of a result that is an error, for programs and for agents.
type Failure struct {
	Status     int             `json:"status"` // of HTTP
	Code       string          `json:"code"`   // stable
	Title      string          `json:"title,omitempty"`
	Detail     string          `json:"detail,omitempty"`
	Retryable  bool            `json:"retryable"`             // the same call with the same key may be answered otherwise
	RetryAfter int             `json:"retry_after,omitempty"` // seconds
	Errors     []FieldError    `json:"errors,omitempty"`
	Existing   json.RawMessage `json:"existing,omitempty"` // what is there already, where it may be shown
}

// FieldError is what is wrong with one argument.
type FieldError struct {
	Pointer string `json:"pointer"` // JSON pointer into the arguments
	Code    string `json:"code,omitempty"`
	Detail  string `json:"detail"`
}

// failure is a result that says why there is none, as MCP wants the errors of tools:
// an agent must see them.
func failure(err error) *sdk.CallToolResult {
	var refused *idem.ToolError
	if !errors.As(err, &refused) {
		refused = idem.Refusal(err)
	}
	p := refused.Problem
	shown := Failure{
		Status: p.Status, Code: p.Code, Title: p.Title, Detail: p.Detail, Existing: p.Existing,
		Retryable: refused.Retryable, RetryAfter: int(math.Ceil(refused.RetryAfter.Seconds())),
	}
	for _, f := range p.Fields {
		shown.Errors = append(shown.Errors, FieldError{f.Pointer, f.Code, f.Detail})
	}
	out := &sdk.CallToolResult{IsError: true}
	content, err := json.Marshal(shown)
	if err != nil { // what is there already is no JSON: it is left out
		shown.Existing = nil
		content, _ = json.Marshal(shown)
	}
	show(out, content)
	return out
}

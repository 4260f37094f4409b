// Package mcp serves the tools of a service to agents by the Model Context Protocol,
// with the official Go SDK: over stdio and over streamable HTTP.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/tool"
)

// CallerFunc says who calls a tool: over HTTP by req.Extra, which has the headers of
// the request and what a verifier of tokens has found; over stdio by whom the process
// belongs to. An *idem.Error is the answer; any other error is 401 unauthenticated.
type CallerFunc[C any] func(ctx context.Context, req *sdk.CallToolRequest) (C, error)

// Options are what a server says of itself.
type Options struct {
	Name    string // of the server; "idemgen" if empty
	Version string // "0" if empty
	// Server are the SDK's own options; nil for its defaults.
	Server *sdk.ServerOptions
}

// NewServer makes a server of all tools of a box. It is stateless: keys, and so
// records, are of callers and of the sessions that _meta names, never of a
// connection.
func NewServer[C any](box *tool.Box[C], caller CallerFunc[C], opts Options) (*sdk.Server, error) {
	if box == nil || caller == nil {
		return nil, errors.New("mcp: a server needs tools, and a function that says who calls")
	}
	server := sdk.NewServer(&sdk.Implementation{Name: cmp.Or(opts.Name, "idemgen"), Version: cmp.Or(opts.Version, "0")}, opts.Server)
	for _, t := range box.Tools() {
		server.AddTool(definition(t.ToolDefinition), handler(box, caller))
	}
	return server, nil
}

// Handler serves over streamable HTTP, at whatever path it is mounted. Every request
// stands for itself: any process can answer it, also after a restart.
func Handler(server *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// Stdio serves over standard input and output, until the host closes them or ctx
// ends. Nothing else may write to standard output.
func Stdio(ctx context.Context, server *sdk.Server) error {
	return server.Run(ctx, &sdk.StdioTransport{})
}

func definition(d idem.ToolDefinition) *sdk.Tool {
	return &sdk.Tool{
		Name: d.Name, Description: d.Description, InputSchema: d.InputSchema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: d.Hints.ReadOnly, DestructiveHint: &d.Hints.Destructive,
			IdempotentHint: d.Hints.Idempotent, OpenWorldHint: &d.Hints.OpenWorld,
		},
	}
}

func handler[C any](box *tool.Box[C], caller CallerFunc[C]) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		meta, refused := tool.ReadMeta(req.Params.Meta)
		if refused != nil {
			return failure(idem.Refusal(refused)), nil
		}
		who, err := caller(ctx, req)
		if err != nil {
			return failure(idem.Refusal(err)), nil
		}
		result, err := box.Call(ctx, who, tool.Call{Name: req.Params.Name, Arguments: req.Params.Arguments, Meta: meta})
		if err != nil {
			return failure(err), nil
		}
		return success(result), nil
	}
}

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idemgen/idemgen/adapters/mcp"
)

// wire sends what an MCP client sends, with an API key.
type wire struct{ c *client }

// RoundTrip implements http.RoundTripper.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.c.apiKey)
	return w.c.http.Transport.RoundTrip(r)
}

// agent is a connection of an agent's host, over streamable HTTP.
func (c *client) agent() (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1.0.0"}, nil).Connect(context.Background(), &sdk.StreamableClientTransport{
		Endpoint: c.url + "/mcp", HTTPClient: &http.Client{Transport: wire{c}}, DisableStandaloneSSE: true,
	}, nil)
}

// said is what a tool answered: its text, and whether that was recorded earlier.
type said struct {
	text     string
	replayed bool
	failed   bool
}

// call calls a tool, on a connection of its own: hosts come and go. It may be called
// beside the test's goroutine: no answer is reported, and is a failure.
func (c *client) call(t *testing.T, tool string, meta sdk.Meta, arguments string) said {
	t.Helper()
	session, err := c.agent()
	if err != nil {
		t.Error(err)
		return said{failed: true}
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Meta: meta, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return said{failed: true}
	}
	out := said{replayed: res.Meta[mcp.MetaReplayed] == true, failed: res.IsError}
	for _, part := range res.Content {
		out.text += part.(*sdk.TextContent).Text
	}
	return out
}

// result is a call that must succeed.
func (c *client) result(t *testing.T, tool string, meta sdk.Meta, arguments string) said {
	t.Helper()
	out := c.call(t, tool, meta, arguments)
	if out.failed {
		t.Fatalf("%s: %s", tool, out.text)
	}
	return out
}

// failure is a call that must fail, with this code.
func (c *client) failure(t *testing.T, code, tool string, meta sdk.Meta, arguments string) mcp.Failure {
	t.Helper()
	out := c.call(t, tool, meta, arguments)
	var f mcp.Failure
	if err := json.Unmarshal([]byte(out.text), &f); err != nil || !out.failed || f.Code != code {
		t.Fatalf("%s: %+v, want %s", tool, out, code)
	}
	return f
}

func invoiceOf(order string) string {
	return `{"order_id": "` + order + `", "amount": 1250, "currency": "EUR"}`
}

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idemgen/idemgen/adapters/mcp"
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/tool"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

// greet is a tool that reads: a statement without a table.
func greet() *idem.Operation {
	return &idem.Operation{
		Name: "Greet", Status: 200, Strategy: idem.Direct, Policy: idem.Policy{Timeout: 30 * time.Second},
		Fields: []idem.Field{{From: idem.FromBody, Name: "name", Kind: idem.KindText, Required: true}},
		SQL:    "-- statement: unkeyed\nSELECT false, 200::smallint, NULL::text, json_build_object('hello', $1::text, 'from', $2::text)::text, NULL::bytea\n",
		Steps:  []idem.Step{{Name: "Greet", Unkeyed: []idem.Arg{{Field: 0, Kind: idem.KindText}, {From: idem.ArgScope, Kind: idem.KindText}}}},
		Tool:   idem.ToolSpec{Definition: `{"name": "greet", "description": "Greet.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "idempotentHint": true}}`},
	}
}

// connect serves the tool over streamable HTTP and connects a client that says who it
// is in a header.
func connect(t *testing.T, who string) *sdk.ClientSession {
	t.Helper()
	svc, err := idem.New(idemtest.Pool(t, ""), idem.Config{
		Service: "s", Profile: idem.ProfileIETF, Operations: []*idem.Operation{greet()},
		Caller: []idem.Field{{Name: "tenant_id", Kind: idem.KindText, Required: true, Scope: true}},
	}, func(*http.Request) ([]any, error) { return nil, errors.New("nobody") }, idem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	box, err := tool.New(idem.ToolsOf(svc, func(tenant string) []any { return []any{tenant} }), tool.Options{Secret: []byte("0123456789abcdef")})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcp.NewServer(box, func(_ context.Context, req *sdk.CallToolRequest) (string, error) {
		switch tenant := req.Extra.Header.Get("Tenant"); tenant {
		case "":
			return "", errors.New("who are you?")
		case "late":
			return "", &idem.Error{Status: 503, Code: "unavailable"}
		default:
			return tenant, nil
		}
	}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(mcp.Handler(server))
	t.Cleanup(listening.Close)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: listening.URL, HTTPClient: &http.Client{Transport: tenant(who)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

type tenant string

func (who tenant) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Tenant", string(who))
	return http.DefaultTransport.RoundTrip(r)
}

func call(t *testing.T, session *sdk.ClientSession, arguments string) (*sdk.CallToolResult, string) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "greet", Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, part := range res.Content {
		text.WriteString(part.(*sdk.TextContent).Text)
	}
	return res, text.String()
}

// A call is of the caller that its own request names.
func TestServerCallsForTheCaller(t *testing.T) {
	session := connect(t, "acme")
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if told := list.Tools[0]; told.Name != "greet" || !told.Annotations.ReadOnlyHint || *told.Annotations.DestructiveHint || *told.Annotations.OpenWorldHint {
		t.Errorf("%+v", told)
	}
	res, text := call(t, session, `{"name": "Ann"}`)
	if res.IsError || res.StructuredContent == nil || !strings.Contains(text, `"hello" : "Ann"`) || !strings.Contains(text, `"from" : "acme"`) {
		t.Errorf("%+v %s", res, text)
	}
}

// Errors are results that the agent sees, with a code and whether to try again.
func TestServerErrors(t *testing.T) {
	for who, want := range map[string]string{
		"":     `"status":401,"code":"unauthenticated"`,
		"late": `"status":503,"code":"unavailable"`,
		"acme": `"pointer":"/name"`,
	} {
		res, text := call(t, connect(t, who), `{}`)
		if !res.IsError || !strings.Contains(text, want) || strings.Contains(text, "who are you") {
			t.Errorf("%q: %s", who, text)
		}
		if retry := strings.Contains(text, `"retryable":true`); retry != (who == "late") {
			t.Errorf("%q: %s", who, text)
		}
	}
	if _, err := mcp.NewServer[string](nil, nil, mcp.Options{}); err == nil {
		t.Error("a server of nothing")
	}
}

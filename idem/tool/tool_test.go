package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/client"
	"github.com/idemgen/idemgen/idem/tool"
)

var secret = []byte("0123456789abcdef")

func box(t *testing.T, opts tool.Options) *tool.Box[tenant] {
	t.Helper()
	opts.Secret = secret
	keyed := idem.Tool[tenant]{ToolDefinition: idem.ToolDefinition{Name: "pay"}, TakesKey: true}
	read := idem.Tool[tenant]{ToolDefinition: idem.ToolDefinition{Name: "read"}}
	b, err := tool.New([]idem.Tool[tenant]{keyed, read}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keyOf(t *testing.T, b *tool.Box[tenant], arguments string, meta tool.Meta) string {
	t.Helper()
	key, err := b.Key(tool.Call{Name: "pay", Arguments: json.RawMessage(arguments), Meta: meta})
	if err != nil {
		t.Fatalf("%s %+v: %v", arguments, meta, err)
	}
	return key
}

// The key of a step is the one that every language derives.
func TestStepKeysAreThoseOfTheClient(t *testing.T) {
	meta := tool.Meta{Session: "s", Step: "1"}
	want, err := client.DeriveKey(secret, "s", "1", "pay", json.RawMessage(`{"amount":9007199254740993}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []string{`{"amount":9007199254740993}`, ` { "amount" : 9007199254740993.0 }`} {
		if got := keyOf(t, box(t, tool.Options{}), arguments, meta); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
	alone, err := client.DeriveStepKey(secret, "s", "1", "pay")
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []string{`{"amount":1}`, `{"amount":2}`, ``} {
		if got := keyOf(t, box(t, tool.Options{WithoutPayload: true}), arguments, meta); got != alone {
			t.Errorf("without the payload, %s: %s, want %s", arguments, got, alone)
		}
	}
}

// Keys of different sessions, steps, payloads and sources are different keys.
func TestKeysAreApart(t *testing.T) {
	b, seen := box(t, tool.Options{}), map[string]string{}
	for _, c := range []struct {
		arguments string
		meta      tool.Meta
	}{
		{`{}`, tool.Meta{Session: "s", Step: "1"}}, {`{}`, tool.Meta{Session: "s", Step: "2"}}, {`{}`, tool.Meta{Session: "r", Step: "1"}},
		{`{"a":1}`, tool.Meta{Session: "s", Step: "1"}}, {`{"a":2}`, tool.Meta{Session: "s", Step: "1"}},
		{`{}`, tool.Meta{Key: "k"}}, {`{}`, tool.Meta{Key: "k", Session: "s"}}, {`{}`, tool.Meta{Key: "k", Session: "r"}},
		{`{}`, tool.Meta{Key: "1", Session: "s"}}, {`{}`, tool.Meta{Session: "s", Step: "key"}}, {`{}`, tool.Meta{Session: "s", Step: "k"}},
	} {
		key, name := keyOf(t, b, c.arguments, c.meta), c.arguments+" "+c.meta.Key+"/"+c.meta.Session+"/"+c.meta.Step
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s have one key", other, name)
		}
		seen[key] = name
	}
	// The key's argument is no part of what a step is about.
	if keyOf(t, b, `{"idempotency_key":"k"}`, tool.Meta{Session: "s"}) != keyOf(t, b, `{}`, tool.Meta{Session: "s", Key: "k"}) {
		t.Error("a key in _meta and as an argument are two")
	}
	if keyOf(t, b, `{"a":1,"idempotency_key":null}`, tool.Meta{Session: "s", Step: "1"}) != keyOf(t, b, `{"a":1}`, tool.Meta{Session: "s", Step: "1"}) {
		t.Error("a key that is null is part of the payload")
	}
	if key, err := b.Key(tool.Call{Name: "read", Meta: tool.Meta{Key: "k"}}); key != "" || err != nil {
		t.Errorf("a tool that reads: %q, %v", key, err)
	}
}

func TestMetaIsRead(t *testing.T) {
	got, err := tool.ReadMeta(map[string]any{"session": "s", "step": float64(3), "idempotencyKey": "k", "progressToken": 1})
	if err != nil || got != (tool.Meta{Key: "k", Session: "s", Step: "3"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []any{"", 1.5, true, map[string]any{}, 1e300} {
		if _, err := tool.ReadMeta(map[string]any{"step": wrong}); err == nil || !strings.Contains(err.Detail, "step") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

func TestABoxNeedsASecret(t *testing.T) {
	if _, err := tool.New[tenant](nil, tool.Options{Secret: []byte("short")}); err == nil || !strings.Contains(err.Error(), "Options.Secret") {
		t.Errorf("%v", err)
	}
	twice := []idem.Tool[tenant]{{ToolDefinition: idem.ToolDefinition{Name: "a"}}, {ToolDefinition: idem.ToolDefinition{Name: "a"}}}
	if _, err := tool.New(twice, tool.Options{Secret: secret}); err == nil {
		t.Error("two tools have one name")
	}
}

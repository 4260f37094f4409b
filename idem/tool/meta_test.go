package tool_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/tool"
)

// A step is the same step however its number is spelled; nothing else may be a number,
// as docs/agents.md says.
func TestMetaIsReadInOneSpelling(t *testing.T) {
	for _, c := range []struct {
		name string
		sent any
		want string // "": refused
	}{
		{tool.MetaStep, "1", "1"}, {tool.MetaStep, 1, "1"}, {tool.MetaStep, 1.0, "1"}, {tool.MetaStep, json.Number("1"), "1"},
		{tool.MetaStep, 0.0, "0"}, {tool.MetaStep, math.Copysign(0, -1), "0"}, {tool.MetaStep, json.Number("-0"), "0"}, {tool.MetaStep, -7.0, "-7"},
		{tool.MetaStep, 1.5, ""}, {tool.MetaStep, math.NaN(), ""}, {tool.MetaStep, math.Inf(1), ""}, {tool.MetaStep, 1e300, ""},
		{tool.MetaStep, json.Number("9223372036854775808"), ""}, {tool.MetaStep, true, ""}, {tool.MetaStep, []any{"1"}, ""}, {tool.MetaStep, "", ""},
		{tool.MetaSession, "run-7", "run-7"}, {tool.MetaSession, 7.0, ""}, {tool.MetaSession, json.Number("7"), ""}, {tool.MetaKey, 7.0, ""},
	} {
		meta, refused := tool.ReadMeta(map[string]any{c.name: c.sent})
		if got := meta.Key + meta.Session + meta.Step; got != c.want || (refused != nil) != (c.want == "") {
			t.Errorf("%s %v (%T): %q, %v", c.name, c.sent, c.sent, got, refused)
		}
	}
}

// What is no key is none in a session either, where its digest would pass for one.
func TestKeyInASessionIsStillAKey(t *testing.T) {
	for _, key := range []string{"a b", "é", "a\xff", strings.Repeat("k", 256)} {
		for _, call := range []tool.Call{
			{Name: "pay", Meta: tool.Meta{Session: "s", Key: key}},
			{Name: "pay", Meta: tool.Meta{Session: "s"}, Arguments: json.RawMessage(`{"idempotency_key": "` + key + `"}`)},
		} {
			if got, err := box(t, tool.Options{}).Key(call); err == nil || err.Code != "key-invalid" {
				t.Errorf("%.10q: %s, %v", key, got, err)
			}
		}
	}
}

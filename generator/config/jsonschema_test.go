package config

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/spec"
)

// TestSchemaDrift holds the JSON Schema and the parser to the same keys.
func TestSchemaDrift(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(JSONSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	defs := doc["$defs"].(map[string]any)
	def := func(name string) map[string]any { return defs[name].(map[string]any) }
	defaults := def("defaults")
	for name, c := range map[string]struct {
		schema map[string]any
		keys   []string
	}{
		"top":      {doc, topKeys()},
		"sqlc":     {def("sqlc"), sqlcKeys()},
		"json":     {def("json"), jsonKeys()},
		"sweep":    {def("sweep"), sweepKeys()},
		"openapi":  {def("openapi"), openAPIKeys()},
		"defaults": {defaults, defaultKeys()},
		"methods":  {defaults["properties"].(map[string]any)["key"].(map[string]any), spec.Methods()},
	} {
		var got []string
		for key, value := range c.schema["properties"].(map[string]any) {
			got = append(got, key)
			v := value.(map[string]any)
			if v["description"] == nil && v["$ref"] == nil && name != "methods" {
				t.Errorf("%s: %s has no description", name, key)
			}
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.keys))
		if !slices.Equal(got, want) {
			t.Errorf("%s: schema has %v, the parser %v", name, got, want)
		}
		if c.schema["additionalProperties"] != false {
			t.Errorf("%s: other keys are allowed", name)
		}
	}
}

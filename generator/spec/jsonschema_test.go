package spec

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSchemaDrift holds the JSON Schema and the parser to the same keys.
func TestSchemaDrift(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Additional any `json:"additionalProperties"`
			Properties map[string]map[string]any
		} `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]string{
		"endpoint": endpointKeys(), "step": stepKeys(), "longBind": bindKeys, "policyKeys": PolicyKeys(),
	} {
		var got []string
		for key, value := range doc.Defs[name].Properties {
			got = append(got, key)
			if value["description"] == nil && value["$ref"] == nil {
				t.Errorf("%s: %s has no description", name, key)
			}
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(keys))
		if !slices.Equal(got, want) {
			t.Errorf("%s: schema has %v, the parser %v", name, got, want)
		}
		if doc.Defs[name].Additional != false {
			t.Errorf("%s: other keys are allowed", name)
		}
	}
}

// TestEveryWordHasBothForms holds the words to the two places where they stand.
func TestEveryWordHasBothForms(t *testing.T) {
	keys := append(endpointKeys(), stepKeys()...)
	for _, w := range words() {
		if !slices.Contains(keys, w.name) {
			t.Errorf("@%s is no key of a spec", w.name)
		}
		if !w.notYet && (w.form == "" || (w.parse == nil) == (w.named == nil)) {
			t.Errorf("@%s has no form, or not exactly one parser", w.name)
		}
	}
	for from, to := range aliases {
		if _, ok := lookup(to); !ok {
			t.Errorf("alias %s leads to %s, which is no word", from, to)
		}
	}
}

package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// WholePolicy reports a fingerprint that YAML has cut at its comma, as in
// `{fingerprint: only(a,b)}`, and leaves out its pieces: in braces a comma ends
// a value unless it stands in quotes.
func WholePolicy(entries []yamltree.Entry, config bool, diags *diag.List) []yamltree.Entry {
	i := slices.IndexFunc(entries, func(e yamltree.Entry) bool {
		text, ok := e.Value.Text()
		open := strings.HasPrefix(text.Value, "only(") || strings.HasPrefix(text.Value, "except(")
		return ok && e.Key.Value == "fingerprint" && text.Plain && open && !strings.Contains(text.Value, ")")
	})
	if i < 0 {
		return entries
	}
	text, _ := entries[i].Value.Text()
	end, whole := i+1, text.Value
	for end < len(entries) && entries[end].Value.IsNull() && !strings.HasSuffix(whole, ")") {
		whole += "," + entries[end].Key.Value
		end++
	}
	if end == i+1 || !strings.HasSuffix(whole, ")") {
		return entries
	}
	code := diag.PolicyForm
	if config {
		code = diag.ConfigValue
	}
	diags.Errorf(code, text.Pos, "YAML ends this value at the comma: %s", text.Value).Hint("put it in quotes: fingerprint: %q", whole)
	return slices.Delete(slices.Clone(entries), i, end)
}

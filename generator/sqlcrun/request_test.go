package sqlcrun

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestCutCatalog: the cut gives what a whole parse gives, and text of another
// layout is left alone.
func TestCutCatalog(t *testing.T) {
	compact := []byte(`{"settings":{"a":1},"catalog":{"default_schema":"public","schemas":[{"name":"public","tables":[{"rel":{"name":"t"},"columns":[{"name":"\n \"catalog\": {"}]}]}]},"queries":[{"name":"Q","text":"},\n"}],"sqlc_version":"v1"}`)
	for _, indent := range []string{" ", "  ", "\t"} {
		var text bytes.Buffer
		if err := json.Indent(&text, compact, "", indent); err != nil {
			t.Fatal(err)
		}
		rest, catalog := cutCatalog(text.Bytes())
		if catalog == nil || len(rest)+len(catalog) != text.Len()+2 {
			t.Fatalf("indent %q: nothing was cut", indent)
		}
		r, err := parseRequest(text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		columns, ok := r.table(jsonName{Name: "t"})
		if !ok || len(columns) != 1 || r.SqlcVersion != "v1" || len(r.Queries) != 1 || r.Queries[0].Text != "},\n" {
			t.Errorf("indent %q: got %+v", indent, r)
		}
	}
	if _, catalog := cutCatalog(compact); catalog != nil {
		t.Error("compact text was cut")
	}
	if r, err := parseRequest(compact); err != nil || r.Queries[0].Name != "Q" {
		t.Errorf("compact text: %v", err)
	}
}

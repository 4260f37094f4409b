package spec

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// TestProseIsNoAnnotation: comments that only mention a word, or another @, are
// nobody's business.
func TestProseIsNoAnnotation(t *testing.T) {
	for _, comment := range []string{
		"-- see @http in the manual", "-- @ noon every day", "-- @", "-- @ ", "-- @alice wrote this", "-- name of the tenant", "-- name the tenant :)",
		"-- the name: what else", "-- mail a@http.example", "/* a comment with @http inside */", "-- @alice: @http is not ours",
	} {
		var diags diag.List
		decls := ParseQueryFile("q.sql", "-- name: A :one\n"+comment+"\nSELECT 1;\n", &diags)
		if len(diags.Sorted()) > 0 || len(decls) != 1 || decls[0].Annotated {
			t.Errorf("%s: %v", comment, diags.Sorted())
		}
	}
}

// TestPathsThatStand: what only resembles a refused path is one.
func TestPathsThatStand(t *testing.T) {
	for _, path := range []string{"/", "/v1/x.json", "/v1/..x", "/v1/x..", "/v1/...", "/v1/.well-known/{id}", "/v1/{id}.json", "/v1/x/", "/v1/{a}/{b}"} {
		var diags diag.List
		ParseQueryFile("q.sql", "-- name: A :one\n-- @http GET "+path+"\nSELECT 1;\n", &diags)
		if got := diags.Sorted(); len(got) > 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestTagsWithSpaces: quotes, or a list of YAML, say that a tag has a space.
func TestTagsWithSpaces(t *testing.T) {
	var diags diag.List
	decls := ParseQueryFile("q.sql", "-- name: A :one\n-- @tag \"Order lines\", b\nSELECT 1;\n", &diags)
	endpoints := ParseEndpoints("e.yaml", []byte("endpoints:\n  A:\n    http: POST /x\n    tag: [\"Order lines\", b]\n    steps: [{query: A}]\n"), &diags)
	if len(diags.Sorted()) > 0 || len(decls) != 1 || len(endpoints) != 1 {
		t.Fatalf("got %v", diags.Sorted())
	}
	for _, tags := range [][]Name{decls[0].Decl.Tags, endpoints[0].Decl.Tags} {
		if len(tags) != 2 || tags[0].Value != "Order lines" || tags[1].Value != "b" {
			t.Errorf("got %v", tags)
		}
	}
}

func TestRepeatedMember(t *testing.T) {
	for document, want := range map[string]int{
		`{"a": 1, "b": 2}`: -1, `{"a": "a", "b": "a"}`: -1, `["a", "a"]`: -1, `{"a": {"a": {"a": 1}}}`: -1, `[{"a": 1}, {"a": 1}]`: -1,
		`"a"`: -1, `7`: -1, `{}`: -1, `{"a": [], "A": []}`: -1, `{"a": 1e999}`: -1,
		`{"a": 1, "a": 1}`: 9, `{"a": ["a", {"b": 1}], "b": {}, "b": 2}`: 32, `[[{"x": {"b": null, "b": null}}]]`: 20, `{"a": 1, "\u0061": 2}`: 9,
	} {
		name, offset, found := RepeatedMember(document)
		if found != (want >= 0) || found && (offset != want || name == "") {
			t.Errorf("%s: %q at %d, %v; want %d", document, name, offset, found, want)
		}
	}
}

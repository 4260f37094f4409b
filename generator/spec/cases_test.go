package spec

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// TestCase_gen_6: what sqlc would change silently is refused with its place.
func TestCase_gen_6(t *testing.T) {
	for name, c := range map[string]struct {
		sql  string
		code diag.Code
		pos  string
	}{
		"line begins with #": {"SELECT meta\n#>> '{a}' FROM t;", diag.QueryCorrupt, "q.sql:3:1"},
		"=@x":                {"SELECT 1 FROM t WHERE id =@x;", diag.QueryCorrupt, "q.sql:2:26"},
		"MERGE":              {"MERGE INTO t USING s ON t.id = @id WHEN MATCHED THEN DELETE;", diag.QueryUnsupport, "q.sql:2:1"},
		"sqlc.slice":         {"SELECT 1 WHERE 1 IN (sqlc.slice('ids'));", diag.QueryUnsupport, "q.sql:2:22"},
		"-- inside a string": {"SELECT 'a\n-- b';", diag.QueryCorrupt, "q.sql:3:1"},
	} {
		var diags diag.List
		ParseQueryFile("q.sql", "-- name: A :one\n"+c.sql, &diags)
		ds := diags.Sorted()
		if len(ds) != 1 || ds[0].Code != c.code || ds[0].Pos.String() != c.pos || ds[0].Severity != diag.Error || ds[0].Hint == "" {
			t.Errorf("%s: %+v, want %s at %s", name, ds, c.code, c.pos)
		}
	}
}

// TestWhatSqlcKeepsIsAccepted: the same characters in harmless places.
func TestWhatSqlcKeepsIsAccepted(t *testing.T) {
	for name, sql := range map[string]string{
		"# not first in its line":   "SELECT meta #>> '{a}' FROM t;",
		"# indented":                "SELECT meta\n  #>> '{a}' FROM t;",
		"comment between lines":     "SELECT 1\n-- why\n+ 1;",
		"containment":               "SELECT 1 FROM t WHERE tags <@ @tags AND v @@ @q AND v @@to_tsquery('a');",
		"parameter after a bracket": "SELECT (@x)::int, ARRAY[@y::int];",
		"quotes hide":               `SELECT '=@x', "=@y", $$ =@z # ; $$, $q$ sqlc.slice( $q$;`,
		"column named merge":        "SELECT merge FROM t WHERE merge = @merge;",
		"a slice of another schema": "SELECT sqlc.arg(slice)::int;",
		"MERGE by number":           "MERGE INTO t USING s ON t.id = $1 WHEN MATCHED THEN DELETE;",
		"nested comments":           "SELECT 1 /* a /* b; */ c; */;",
		"dollar parameters":         "SELECT $1::int + $2::int;",
		"escaped string":            `SELECT E'a\'; -- @http', 'b''; -- @http';`,
		"block comment of its own":  "/* alone */\nSELECT 1;",
	} {
		var diags diag.List
		ds := ParseQueryFile("q.sql", "-- name: A :one\n"+sql+"\n", &diags)
		if len(diags.Sorted()) > 0 || len(ds) != 1 {
			t.Errorf("%s: %d queries, %v", name, len(ds), diags.Sorted())
		}
	}
}

// TestSQLPositions: a place in QueryDecl.SQL is the place in the file.
func TestSQLPositions(t *testing.T) {
	const file = "-- name: A :one\n\n\t/* é */ SELECT one\nFROM two;\n-- name: B :one\n  SELECT three ;"
	var diags diag.List
	decls := ParseQueryFile("q.sql", file, &diags)
	if len(decls) != 2 || diags.HasErrors() {
		t.Fatalf("%v %v", decls, diags.Sorted())
	}
	lines := strings.Split(file, "\n")
	for _, c := range []struct {
		decl int
		word string
	}{{0, "SELECT"}, {0, "one"}, {0, "FROM"}, {0, "two"}, {1, "SELECT"}, {1, "three"}} {
		sql := decls[c.decl].SQL
		at := strings.Index(sql.Text, c.word)
		before := sql.Text[:at]
		line := sql.Line + strings.Count(before, "\n")
		col := at - strings.LastIndex(before, "\n") - 1
		if got := lines[line-1]; !strings.HasPrefix(got[col:], c.word) {
			t.Errorf("%s: line %d column %d of %q", c.word, line, col+1, got)
		}
	}
}

// TestUnits: what is a duration or a size, and what only looks like one.
func TestUnits(t *testing.T) {
	for text, want := range map[string]string{
		"24h": "24h0m0s", "500ms": "500ms", "1h30m": "1h30m0s", "30d": "720h0m0s", "0s": "0s", "5m": "5m0s",
		"": "", "24": "", "h": "", "1.5h": "", "-1s": "", "1H": "", "1h 30m": "", "99999999999999999999s": "", "9223372036854775807s": "", "106751d": "2562024h0m0s", "106752d": "",
	} {
		d, ok := parseDuration(text)
		if ok != (want != "") || ok && d.String() != want {
			t.Errorf("%q: %v %v, want %q", text, d, ok, want)
		}
	}
	for text, want := range map[string]int64{
		"1MiB": 1 << 20, "64KiB": 64 << 10, "1GiB": 1 << 30, "512": 512, "512B": 512, "2kB": 2000, "3MB": 3e6,
		"": -1, "MiB": -1, "1.5MiB": -1, "1MIB": -1, "1 MiB": -1, "9223372036854775807KiB": -1,
	} {
		n, ok := parseSize(text)
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d %v, want %d", text, n, ok, want)
		}
	}
}

// TestColonParameter: other routers' :id would be a literal text in ours.
func TestColonParameter(t *testing.T) {
	for path, want := range map[string]struct {
		hint       string
		col, width int
	}{
		"/v1/loans/:id":       {"write {id}", 24, 3},
		"/v1/loans/:id/pages": {"write {id}", 24, 3},
		"/v1/:a.b":            {"write {name}", 18, 4},
		"/v1/loans:return":    {},
		"/v1/loans/{id}:undo": {},
	} {
		diags := &diag.List{}
		ParseQueryFile("q.sql", "-- name: Get :one\n-- @http GET "+path+"\nSELECT 1;\n", diags)
		got := diags.Sorted()
		if want.hint == "" {
			if len(got) != 0 {
				t.Errorf("%s: got %v", path, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != diag.RouteForm || got[0].Hint != want.hint || got[0].Pos.Col != want.col || got[0].Pos.Width != want.width {
			t.Errorf("%s: got %+v", path, got)
		}
	}
}

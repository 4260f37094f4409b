package yamltree

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

func parse(t *testing.T, text string) (Node, *diag.List) {
	t.Helper()
	diags := &diag.List{}
	n, ok := Parse("a.yaml", []byte(text), diags)
	if !ok {
		t.Fatalf("%v", diags.Sorted())
	}
	return n, diags
}

func TestPlaces(t *testing.T) {
	const text = "é: plain\n\"k\": 'single'\nlist: [{ü: \"a\\tb\"}, 名前, x]\nblock: |\n  text\n"
	root, _ := parse(t, text)
	entries, ok := root.Map()
	if !ok {
		t.Fatal("no mapping")
	}
	list, _ := entries[2].Value.List()
	inner, _ := list[0].Map()
	second, _ := list[1].Text()
	third, _ := list[2].Text()
	escaped, _ := inner[0].Value.Text()
	plain, _ := entries[0].Value.Text()
	single, _ := entries[1].Value.Text()
	block, _ := entries[3].Value.Text()
	for name, c := range map[string]struct {
		got    Scalar
		want   string
		exact  bool
		column int
		width  int
	}{
		"key of two bytes":   {entries[0].Key, "é", true, 1, 2},
		"behind two bytes":   {plain, "plain", true, 5, 5},
		"quoted key":         {entries[1].Key, "k", true, 2, 1},
		"single quotes":      {single, "single", true, 7, 6},
		"escapes":            {escaped, "a\tb", false, 13, 1},
		"wide":               {second, "名前", true, 22, 6},
		"behind wide":        {third, "x", true, 30, 1},
		"block scalar":       {block, "text\n", false, 8, 1},
		"key in flow, bytes": {inner[0].Key, "ü", true, 9, 2},
	} {
		if c.got.Value != c.want || c.got.Exact != c.exact || c.got.Pos.Col != c.column || c.got.Pos.Width != c.width {
			t.Errorf("%s: %+v, want %+v", name, c.got, c)
		}
	}
}

// TestByteOrderMarkTakesNoPlace: editors on Windows begin a file with one, and
// columns are those that an editor shows.
func TestByteOrderMarkTakesNoPlace(t *testing.T) {
	root, _ := parse(t, ByteOrderMark+"key: value\r\nnext: other\r\n")
	entries, _ := root.Map()
	first, _ := entries[0].Value.Text()
	second, _ := entries[1].Value.Text()
	for _, c := range []struct {
		got       Scalar
		value     string
		line, col int
	}{{entries[0].Key, "key", 1, 1}, {first, "value", 1, 6}, {entries[1].Key, "next", 2, 1}, {second, "other", 2, 7}} {
		if c.got.Value != c.value || c.got.Pos.Line != c.line || c.got.Pos.Col != c.col || c.got.Pos.Width != len(c.value) {
			t.Errorf("%+v, want %+v", c.got, c)
		}
	}
}

func TestMerge(t *testing.T) {
	root, diags := parse(t, "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 9}\nd: {<<: text}\n")
	entries, _ := root.Map()
	c, _ := entries[2].Value.Map()
	got := ""
	for _, e := range c {
		s, _ := e.Value.Text()
		got += e.Key.Value + s.Value + " "
	}
	if got != "x9 y2 z4 " {
		t.Errorf("merged: %s", got)
	}
	if diags.HasErrors() {
		t.Errorf("%v", diags.Sorted())
	}
	if _, ok := entries[3].Value.Map(); !ok || !diags.HasErrors() {
		t.Error("a merge of a text is accepted")
	}
}

func TestJSON(t *testing.T) {
	root, _ := parse(t, "b: [1, 2.50, 1e3, 0x1F, yes, true, ~, \"1\", <&>]\na: {}\n")
	got, ok := root.JSON()
	if want := `{"b": [1, 2.50, 1e3, "0x1F", "yes", true, null, "1", "<&>"], "a": {}}`; !ok || got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAliasesAreBounded: a small text must not become a huge or endless tree.
func TestAliasesAreBounded(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	for name, text := range map[string]string{"laughs": laughs.String(), "cycle": "a: &a [*a]\n", "merge cycle": "a: &a {<<: *a}\n"} {
		root, diags := parse(t, text)
		_, ok := root.JSON()
		if !diags.HasErrors() {
			t.Errorf("%s: accepted", name)
		}
		if ok && name != "merge cycle" {
			t.Errorf("%s: became JSON", name)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "a.yaml:1:1: error[IDEM004]: the file is empty",
		"# only a comment":  "a.yaml:1:1: error[IDEM004]: the file is empty",
		"null":              "a.yaml:1:1: error[IDEM004]: the file is empty",
		"a: \xff":           "a.yaml:1:1: error[IDEM001]: the file is not UTF-8",
		"a: 1\n---\nb: 2":   "a.yaml:2:1: error[IDEM001]: a second YAML document; the file may hold one",
		"a: b: c":           "a.yaml:1:1: error[IDEM001]: not valid YAML: mapping values are not allowed in this context",
		"x: 1\na: {b: 1\n":  "a.yaml:2:1: error[IDEM001]: not valid YAML: did not find expected ',' or '}'",
		"x: 1\ny: *nothing": "a.yaml:2:4: error[IDEM001]: not valid YAML: unknown anchor 'nothing' referenced",
	} {
		var diags diag.List
		if _, ok := Parse("a.yaml", []byte(text), &diags); ok {
			t.Errorf("%q: accepted", text)
		}
		if ds := diags.Sorted(); len(ds) != 1 || ds[0].Error() != want {
			t.Errorf("%q: %v, want %s", text, ds, want)
		}
	}
}

// What goes on to another program is as the YAML library has it; what it refuses
// is a diagnostic at the line that it names.
func TestRaw(t *testing.T) {
	var diags diag.List
	root, ok := Parse("f.yaml", []byte("a: &a {n: 1, list: [x, ~]}\nb: {<<: *a, n: 2}\n"), &diags)
	if !ok {
		t.Fatal(diags.Sorted())
	}
	raw, ok := root.Raw()
	a := map[string]any{"n": 1, "list": []any{"x", nil}}
	want := map[string]any{"a": a, "b": map[string]any{"n": 2, "list": a["list"]}}
	if !ok || !reflect.DeepEqual(raw, want) {
		t.Errorf("got %v %v", raw, diags.Sorted())
	}
	for text, want := range map[string]string{
		"a:\n  b:\n    c: 1\n    c: 2\n": "f.yaml:4:1: error[IDEM001]: not valid YAML: mapping key \"c\" already defined at line 3",
		"a: &a {b: *a}\n":                "f.yaml:1:1: error[IDEM001]: not valid YAML: anchor 'a' value contains itself",
	} {
		var diags diag.List
		root, ok := Parse("f.yaml", []byte(text), &diags)
		if !ok {
			t.Fatal(diags.Sorted())
		}
		_, ok = root.Raw()
		if ds := diags.Sorted(); ok || len(ds) != 1 || ds[0].Error() != want || ds[0].Hint == "" {
			t.Errorf("got %v, want %s", ds, want)
		}
	}
}

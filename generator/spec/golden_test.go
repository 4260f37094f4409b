package spec

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestGolden reads every file of testdata; its golden holds what was declared,
// or what was refused, with carets.
func TestGolden(t *testing.T) {
	for _, pattern := range []string{"testdata/queries/*.sql", "testdata/endpoints/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { golden(t, file) })
		}
	}
}

func golden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(file)
	var diags diag.List
	var out strings.Builder
	if strings.HasSuffix(file, ".sql") {
		for _, d := range ParseQueryFile(name, string(text), &diags) {
			dump(&out, "query", reflect.ValueOf(*d), 0)
		}
	} else {
		for _, e := range ParseEndpoints(name, text, &diags) {
			dump(&out, "endpoint", reflect.ValueOf(*e), 0)
		}
	}
	if diags.HasErrors() {
		out.Reset() // what was declared matters only if nothing is refused
	}
	source := func(string) (string, bool) { return string(text), true }
	if err := diag.Render(&out, diags.Sorted(), source, diag.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	compare(t, strings.TrimSuffix(file, filepath.Ext(file))+".golden", out.String())
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test ./generator/spec -update and look at the diff\ngot:\n%s", path, got)
	}
}

// dump writes v without zero values, places as line:column+width.
func dump(b *strings.Builder, name string, v reflect.Value, depth int) {
	if v.IsZero() {
		return
	}
	indent := strings.Repeat("  ", depth)
	if pos, ok := v.Interface().(diag.Pos); ok {
		fmt.Fprintf(b, "%s%s %d:%d+%d\n", indent, name, pos.Line, pos.Col, pos.Width)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		dump(b, name, v.Elem(), depth)
		if v.Elem().IsZero() { // a set zero differs from an absent value
			fmt.Fprintf(b, "%s%s %v\n", indent, name, v.Elem())
		}
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s\n", indent, name)
		for i := range v.NumField() {
			dump(b, v.Type().Field(i).Name, v.Field(i), depth+1)
		}
	case reflect.Slice:
		for i := range v.Len() {
			dump(b, fmt.Sprintf("%s[%d]", name, i), v.Index(i), depth)
		}
	case reflect.Map:
		fmt.Fprintf(b, "%s%s %d entries\n", indent, name, v.Len())
	case reflect.String:
		fmt.Fprintf(b, "%s%s %q\n", indent, name, v.String())
	default:
		fmt.Fprintf(b, "%s%s %v\n", indent, name, v)
	}
}

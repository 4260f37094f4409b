package openapi

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

var update = flag.Bool("update", false, "rewrite golden files")

func byName(inputs []*model.Input, columns []model.Column) {
	slices.SortFunc(inputs, func(a, b *model.Input) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(columns, func(a, b model.Column) int { return strings.Compare(a.Name, b.Name) })
}

type goldenCase struct {
	name string
	svc  *model.Service
	opts Options
	ops  []*plan.Operation
}

func goldenCases() []goldenCase {
	gateway := service("gateway")
	gateway.JSON.BigintString, gateway.JSON.One = true, "thing"
	anonymous := service("stripe")
	anonymous.ScopeSource, anonymous.Caller, anonymous.UnknownFields = model.Source{Kind: model.SourceNone}, nil, true
	return []goldenCase{
		{"ietf", service("ietf"), Options{Title: "Things: all", Version: "2.0", Servers: []string{"https://api.example.com"}, Security: "bearer"},
			[]*plan.Operation{everyType(), everyRule(), declares(), reads(), deletes(), stores(), ordered(), later(), calls()}},
		{"gateway", gateway, Options{Title: "Things", Version: "1.0.0", Security: "bearer"}, []*plan.Operation{declares(), forced(), reads(), later()}},
		{"stripe", anonymous, Options{Title: "Things", Version: "1.0.0", Security: "none"}, []*plan.Operation{everyRule(), ordered()}},
		{"none", service("ietf"), Options{Title: "Nothing", Version: "1.0.0", Security: "none"}, nil},
	}
}

// TestGoldens compares whole documents. That they are OpenAPI is tested in
// example-service, whose module has a validator.
func TestGoldens(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			c.opts.File = c.name + ".yaml"
			c.opts.Example = func(op *model.Operation) string {
				return map[string]string{"Forced": `{"n": "9007199254740993", "z": [1.50, {}, []], "a": null}`}[op.Name]
			}
			got, err := Document(c.opts, c.svc, c.ops)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Document(c.opts, c.svc, c.ops)
			if err != nil || !bytes.Equal(got.Content, again.Content) {
				t.Errorf("the second document is another one (%v)", err)
			}
			path := filepath.Join("testdata", got.Path)
			if *update {
				if err := os.WriteFile(path, got.Content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Content, want) {
				t.Errorf("%s differs; run go test ./generator/openapi -update and look at the diff", path)
			}
		})
	}
}

// TestPatternsMeanTheSameOrAreLeftOut: ECMA-262 with the flag u has other
// escapes, and reads a bracket at the start of a class differently.
func TestPatternsMeanTheSameOrAreLeftOut(t *testing.T) {
	for pattern, want := range map[string]string{
		`^[A-Z]{3}$`:   `^[A-Z]{3}$`,
		`^a\-b\.c\"$`:  `^a-b\.c"$`,
		`^[a\-z]+$`:    `^[a\-z]+$`,
		`^(?:a|b)\d$`:  `^(?:a|b)\d$`,
		`(?s)^.[.]\.$`: `^[\s\S][.]\.$`,
		`(?i)a`:        "",
		`(?P<n>a)`:     "",
		`^[]a]$`:       "",
		`^[^]a]$`:      "",
		`[[:alpha:]]`:  "",
		`\bword`:       "",
		`\s`:           "",
		`é`:            "",
		`a\`:           "",
		`[a`:           "",
		`^[[]$`:        "",
	} {
		if got, ok := portable(pattern); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", pattern, got, ok, want)
		}
	}
}

package render

import (
	"go/format"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Descriptors look as gofmt would make them look.
func TestLayoutIsGofmts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := "package p\n\nfunc f() any {\n\treturn " +
			strings.ReplaceAll(literals(4).Draw(t, "literal"), "\n", "\n\t") + "\n}\n"
		want, err := format.Source([]byte(source))
		if err != nil {
			t.Fatalf("%v in\n%s", err, source)
		}
		if string(want) != source {
			t.Fatalf("got\n%s\nwant\n%s", source, want)
		}
	})
}

// literals draws composite literals of some depth.
func literals(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		value := func(label string) string {
			if depth > 0 && rapid.IntRange(0, 2).Draw(t, label+" nests") == 0 {
				return literals(depth-1).Draw(t, label)
			}
			return text(rapid.StringMatching(`[a-zä\\"'\t 名]{1,70}`).Draw(t, label))
		}
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			var members []member
			for range rapid.IntRange(0, 5).Draw(t, "members") {
				members = append(members, member{rapid.StringMatching(`[A-Z][a-z]{0,12}`).Draw(t, "name"), value("value")})
			}
			return object("T", members...)
		case 1:
			return list("T", append([]string{value("first")}, rapid.SliceOfN(rapid.Just("T{}"), 0, 3).Draw(t, "more")...))
		}
		items := rapid.SliceOfN(rapid.StringMatching(`\{A: x[a-zä]{1,90}\}`), 1, 6).Draw(t, "items")
		comments := rapid.SliceOfN(rapid.StringMatching(`[a-z$ä ]{1,20}[a-z]`), len(items), len(items)).Draw(t, "comments")
		return lines("T", items, comments)
	})
}

package render

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// imports collects what one emitted file imports. Two packages of one name get
// different ones, and no import takes a name of the emitted package itself.
type imports struct {
	names  nameSet
	byPath map[string]importName
	local  string // the user's module: its packages stand last
}

type importName struct {
	name     string
	explicit bool // the name must be written
}

func newImports(local string, taken []string) *imports {
	im := &imports{names: nameSet{}, byPath: map[string]importName{}, local: local}
	for _, name := range taken {
		im.names[name] = true
	}
	return im
}

// add imports packages under their own names.
func (im *imports) add(paths ...string) {
	for _, p := range paths {
		if _, ok := im.byPath[p]; !ok {
			im.names[packageName(p)] = true
			im.byPath[p] = importName{name: packageName(p)}
		}
	}
}

// blank imports a package for its effect.
func (im *imports) blank(p string) { im.byPath[p] = importName{name: "_", explicit: true} }

// use imports what a Go type needs, and returns its expression as this file
// must write it.
func (im *imports) use(t model.GoType) string {
	expr := t.Expr
	for _, spec := range t.Imports {
		alias, p, explicit := strings.Cut(spec, " ")
		if !explicit {
			p, alias = spec, qualifier(t, spec)
		}
		got, ok := im.byPath[p]
		if !ok {
			name := im.names.take(alias)
			got = importName{name: name, explicit: explicit || name != alias || alias != packageName(p)}
			im.byPath[p] = got
		}
		if got.name != alias {
			expr = requalify(expr, alias, got.name)
		}
	}
	return expr
}

// qualifier is the name by which t's expression means the package p: the only
// one there, where the package's name isn't what its path says.
func qualifier(t model.GoType, p string) string {
	name := packageName(p)
	used := qualifiers(t.Expr)
	if len(used) == 1 && len(t.Imports) == 1 {
		for q := range used {
			return q
		}
	}
	return name
}

// qualifiers are the package names in a Go type expression, with the offsets
// where they stand.
func qualifiers(expr string) map[string][]int {
	found := map[string][]int{}
	tree, err := parser.ParseExpr(expr)
	if err != nil {
		return found
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				found[id.Name] = append(found[id.Name], int(id.Pos())-1)
			}
		}
		return true
	})
	return found
}

func requalify(expr, from, to string) string {
	offsets := qualifiers(expr)[from]
	slices.Sort(offsets)
	for _, at := range slices.Backward(offsets) {
		expr = expr[:at] + to + expr[at+len(from):]
	}
	return expr
}

// packageName guesses a package's name from its path.
func packageName(p string) string {
	base := path.Base(p)
	if isMajorVersion(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	base, _, _ = strings.Cut(base, ".") // gopkg.in/yaml.v3
	base = strings.TrimPrefix(base, "go-")
	name := strings.Map(func(r rune) rune {
		if r == '-' {
			return -1
		}
		return r
	}, base)
	if !token.IsIdentifier(name) {
		return "pkg"
	}
	return name
}

func isMajorVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// block writes the import declaration: the standard library, then others, then
// the user's own module.
func (im *imports) block() string {
	var groups [3][]string
	for p, n := range im.byPath {
		line := `"` + p + `"`
		if n.explicit {
			line = n.name + " " + line
		}
		g := im.group(p)
		groups[g] = append(groups[g], line)
	}
	var b strings.Builder
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		slices.SortFunc(group, func(a, b string) int { return strings.Compare(importPath(a), importPath(b)) })
		b.WriteString("\n" + strings.Join(group, "\n") + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return "import (" + b.String() + ")\n"
}

func (im *imports) group(p string) int {
	first, _, _ := strings.Cut(p, "/")
	switch {
	case im.local != "" && (p == im.local || strings.HasPrefix(p, im.local+"/")):
		return 2
	case strings.Contains(first, "."):
		return 1
	}
	return 0
}

func importPath(line string) string { return line[strings.IndexByte(line, '"'):] }

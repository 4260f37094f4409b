package sqlcrun

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// typer writes types of a sqlc package as another package must spell them.
type typer struct {
	pkg   *goPackage
	entry *Entry
}

// goType is the type of an item, seen from outside of the package.
func (t typer) goType(item goItem) (model.GoType, error) {
	var imports []string
	expr, err := t.spell(item.expr, item.imports, &imports)
	if err != nil {
		return model.GoType{}, err
	}
	slices.Sort(imports)
	return model.GoType{Expr: expr, Imports: slices.Compact(imports)}, nil
}

func (t typer) spell(expr ast.Expr, known map[string]string, imports *[]string) (string, error) {
	sub := func(e ast.Expr) (string, error) { return t.spell(e, known, imports) }
	switch e := expr.(type) {
	case *ast.Ident:
		return t.local(e.Name, imports), nil
	case *ast.ParenExpr:
		return sub(e.X)
	case *ast.StarExpr:
		x, err := sub(e.X)
		return "*" + x, err
	case *ast.ArrayType:
		x, err := sub(e.Elt)
		if n, ok := e.Len.(*ast.BasicLit); ok {
			return "[" + n.Value + "]" + x, err
		}
		return "[]" + x, err
	case *ast.MapType:
		key, err := sub(e.Key)
		if err != nil {
			return "", err
		}
		value, err := sub(e.Value)
		return "map[" + key + "]" + value, err
	case *ast.SelectorExpr:
		return qualified(e, known, imports)
	case *ast.IndexExpr:
		return t.generic(e.X, []ast.Expr{e.Index}, known, imports)
	case *ast.IndexListExpr:
		return t.generic(e.X, e.Indices, known, imports)
	case *ast.InterfaceType:
		if e.Methods == nil || len(e.Methods.List) == 0 {
			return "interface{}", nil
		}
	}
	return "", fmt.Errorf("the Go type %s is none that idemgen knows", types.ExprString(expr))
}

// local is a name without a package: a type of the package itself, or a
// predeclared one.
func (t typer) local(name string, imports *[]string) string {
	if !t.pkg.types[name] && types.Universe.Lookup(name) != nil {
		return name
	}
	p, alias := t.entry.Package, t.entry.alias
	if alias == "" {
		*imports = append(*imports, p.Import)
		return p.Name + "." + name
	}
	*imports = append(*imports, alias+" "+p.Import)
	return alias + "." + name
}

func qualified(e *ast.SelectorExpr, known map[string]string, imports *[]string) (string, error) {
	pkg, ok := e.X.(*ast.Ident)
	if !ok {
		return "", fmt.Errorf("the Go type %s is none that idemgen knows", types.ExprString(e))
	}
	path, ok := known[pkg.Name]
	if !ok {
		return "", fmt.Errorf("no import is known to be package %s: give the override's go_type a `package: %s`", pkg.Name, pkg.Name)
	}
	if !strings.Contains(path, " ") && !strings.HasSuffix("/"+path, "/"+pkg.Name) {
		path = pkg.Name + " " + path
	}
	*imports = append(*imports, path)
	return pkg.Name + "." + e.Sel.Name, nil
}

func (t typer) generic(base ast.Expr, args []ast.Expr, known map[string]string, imports *[]string) (string, error) {
	name, err := t.spell(base, known, imports)
	if err != nil {
		return "", err
	}
	list := make([]string, len(args))
	for i, a := range args {
		if list[i], err = t.spell(a, known, imports); err != nil {
			return "", err
		}
	}
	return name + "[" + strings.Join(list, ", ") + "]", nil
}

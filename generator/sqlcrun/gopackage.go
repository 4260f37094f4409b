package sqlcrun

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// goPackage is a package that sqlc emitted, as its source says it: reading it
// is exact, where a second implementation of sqlc's type mapping would drift.
type goPackage struct {
	types   map[string]bool     // every type that it declares
	structs map[string][]goItem // fields by struct
	methods map[string]goMethod // methods of *Queries
	results map[string]goMethod // Query and QueryRow of XBatchResults, by X
}

// goItem is a field or parameter, with the imports of its file.
type goItem struct {
	name    string
	expr    ast.Expr
	imports map[string]string
}

type goMethod struct {
	typ     *ast.FuncType
	imports map[string]string
	body    *ast.BlockStmt
}

// parsePackage reads the Go files of one package.
func parsePackage(sources map[string][]byte) (*goPackage, error) {
	p := &goPackage{types: map[string]bool{}, structs: map[string][]goItem{}, methods: map[string]goMethod{}, results: map[string]goMethod{}}
	set := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := parser.ParseFile(set, name, sources[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("what sqlc emitted can't be read: %w", err)
		}
		p.add(file)
	}
	return p, nil
}

func (p *goPackage) add(file *ast.File) {
	imports := importsOf(file)
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					p.addType(t, imports)
				}
			}
		case *ast.FuncDecl:
			p.addMethod(d, imports)
		}
	}
}

func (p *goPackage) addType(t *ast.TypeSpec, imports map[string]string) {
	p.types[t.Name.Name] = true
	s, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	p.structs[t.Name.Name] = items(s.Fields, imports)
}

func (p *goPackage) addMethod(d *ast.FuncDecl, imports map[string]string) {
	receiver := receiverOf(d)
	if receiver == "Queries" {
		p.methods[d.Name.Name] = goMethod{d.Type, imports, d.Body}
		return
	}
	query, ok := strings.CutSuffix(receiver, "BatchResults")
	if ok && (d.Name.Name == "Query" || d.Name.Name == "QueryRow") {
		p.results[query] = goMethod{d.Type, imports, d.Body}
	}
}

func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return ""
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if id, ok := expr.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// items are the fields of a list, one per name.
func items(list *ast.FieldList, imports map[string]string) []goItem {
	var out []goItem
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		if len(f.Names) == 0 {
			out = append(out, goItem{"", f.Type, imports})
		}
		for _, name := range f.Names {
			out = append(out, goItem{name.Name, f.Type, imports})
		}
	}
	return out
}

// importsOf maps the names by which a file uses packages to their paths; a
// path has "alias " before it where the file gives it one.
func importsOf(file *ast.File) map[string]string {
	out := map[string]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil {
			out[spec.Name.Name] = spec.Name.Name + " " + path
			continue
		}
		for _, name := range packageNames(path) {
			if _, taken := out[name]; !taken {
				out[name] = path
			}
		}
	}
	return out
}

// packageNames are the names that a package of this path may have: sqlc gives
// no alias where an override names only the path, and nothing is compiled here.
func packageNames(path string) []string {
	words := strings.Split(path, "/")
	last := words[len(words)-1]
	if len(words) > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = words[len(words)-2]
	}
	names := []string{last}
	if stem, version, ok := strings.Cut(last, ".v"); ok && strings.Trim(version, "0123456789") == "" {
		last = stem
		names = append(names, last)
	}
	for _, trimmed := range []string{strings.TrimPrefix(last, "go-"), strings.TrimSuffix(last, "-go"), strings.TrimSuffix(last, ".go"),
		strings.TrimPrefix(last, "go."), strings.ReplaceAll(last, "-", ""), strings.ReplaceAll(last, "-", "_"), last[strings.LastIndexAny(last, "-.")+1:]} {
		if !slices.Contains(names, trimmed) {
			names = append(names, trimmed)
		}
	}
	return names
}

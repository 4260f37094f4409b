package sqlcrun

import "go/ast"

// uses reports whether a method's code has another use for the name of one of
// its plain arguments, other than to pass its value on: sqlc does not look
// whether its own names, such as ctx, rows, items and err, are free.
func (m goMethod) uses(argument string) bool {
	if m.body == nil || argument == "" || argument == "_" {
		return false
	}
	named := 0
	for _, a := range items(m.typ.Params, nil) {
		if a.name == argument {
			named++
		}
	}
	return named > 1 || declares(m.body, argument) || usedAsCode(m.body, argument)
}

// declares reports whether the outermost block declares the name, or assigns
// to it. In inner blocks the argument is not used any more.
func declares(body *ast.BlockStmt, name string) bool {
	is := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && id.Name == name
	}
	for _, stmt := range body.List {
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if is(left) {
					return true
				}
			}
		case *ast.DeclStmt:
			if gen, ok := s.Decl.(*ast.GenDecl); ok && declaresVar(gen, name) {
				return true
			}
		}
	}
	return false
}

func declaresVar(gen *ast.GenDecl, name string) bool {
	for _, spec := range gen.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, id := range value.Names {
			if id.Name == name {
				return true
			}
		}
	}
	return false
}

// usedAsCode reports whether the name stands for a type, a package, a function
// or nil: anywhere but where a value is passed on.
func usedAsCode(body *ast.BlockStmt, name string) bool {
	total, passed := 0, 0
	count := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok && id.Name == name {
				passed++
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return n == body || !declares(n, name) // there it is another variable
		case *ast.Ident:
			if n.Name == name {
				total++
			}
		case *ast.CallExpr:
			count(n.Args...)
		case *ast.RangeStmt:
			count(n.X, n.Key, n.Value)
		case *ast.KeyValueExpr:
			count(n.Key, n.Value)
		case *ast.CompositeLit:
			count(n.Elts...)
		case *ast.SelectorExpr:
			count(n.Sel)
		}
		return true
	})
	return total > passed
}

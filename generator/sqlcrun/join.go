package sqlcrun

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// join makes the queries of an entry of sqlc's JSON and the Go that it
// emitted, and tells sqlc's version. What can't be read is reported.
func join(e *Entry, m emitted, diags *diag.List) ([]*Query, string) {
	if m.request == nil || m.pkg == nil {
		return nil, ""
	}
	req, err := parseRequest(m.request)
	if err != nil {
		diags.Errorf(diag.SqlcFailed, e.Pos, "%v", err).Hint("use sqlc v1.27 or newer, or leave `command` out: idemgen then runs %s", Pinned)
		return nil, ""
	}
	pkg, err := parsePackage(m.pkg)
	if err != nil {
		diags.Errorf(diag.GoPackage, e.Pos, "%v", err).Hint("run `sqlc generate`, and look at the package in %s", e.Out)
		return nil, ""
	}
	j := joiner{req: req, pkg: pkg, typer: typer{pkg: pkg, entry: e}}
	out := make([]*Query, 0, len(req.Queries))
	for i := range req.Queries {
		q, err := j.query(&req.Queries[i])
		if err != nil {
			diags.Errorf(diag.GoPackage, e.Pos, "query %s: %v", req.Queries[i].Name, err).
				Hint("run `sqlc generate`: the package in %s must be what sqlc makes of these queries", e.Out)
			continue
		}
		q.Entry = e
		out = append(out, q)
	}
	return out, req.SqlcVersion
}

type joiner struct {
	req *request
	pkg *goPackage
	typer
}

func (j joiner) query(in *jsonQuery) (*Query, error) {
	q := &Query{Name: in.Name, Command: strings.TrimPrefix(in.Cmd, ":"), File: in.Filename, SQL: in.Text, Comments: in.Comments}
	if in.Insert != nil {
		q.Insert = model.TableName(*in.Insert)
	}
	for _, p := range in.Params {
		q.Params = append(q.Params, p.Column.column())
	}
	for _, c := range in.Columns {
		q.Columns = append(q.Columns, c.column())
	}
	method, ok := j.pkg.methods[q.Name]
	if !ok {
		return nil, fmt.Errorf("no method %s in package %s", q.Name, j.entry.Package.Name)
	}
	if err := j.params(q, method); err != nil {
		return nil, err
	}
	return q, j.columns(q, in, method)
}

var bulk = regexp.MustCompile(`^(batch|copyfrom)`)

// params gives the parameters their Go types: the fields of the Params struct,
// or the method's own arguments.
func (j joiner) params(q *Query, method goMethod) error {
	if len(q.Params) == 0 {
		return nil
	}
	args := items(method.typ.Params, method.imports)
	if len(args) > 0 {
		args = args[1:] // ctx
	}
	if len(args) > 0 && isDBTX(args[0].expr) {
		args = args[1:]
	}
	if len(args) == 1 {
		if bulk.MatchString(q.Command) {
			list, ok := args[0].expr.(*ast.ArrayType)
			if !ok {
				return fmt.Errorf("the argument of method %s is no slice", q.Name)
			}
			args[0].expr = list.Elt
		}
		if fields, ok := j.structOf(args[0].expr, q.Name+"Params"); ok {
			return j.assign(q.Params, fields, q.Name+"Params")
		}
	}
	names := make([]string, len(args))
	for i := range args {
		names[i], args[i].name = args[i].name, "" // an argument's name is no field
	}
	if err := j.assign(q.Params, args, "method "+q.Name); err != nil {
		return err
	}
	for i, name := range names {
		if method.uses(name) {
			q.Params[i].Taken = name
		}
	}
	return nil
}

// columns gives the result columns their Go types.
func (j joiner) columns(q *Query, in *jsonQuery, method goMethod) error {
	result, ok := j.result(q, method)
	if !ok || len(q.Columns) == 0 {
		return nil
	}
	if len(q.Columns) == 1 && in.Columns[0].Embed == nil {
		return j.assign(q.Columns, []goItem{result}, "method "+q.Name)
	}
	fields, ok := j.structOf(result.expr, "")
	if !ok {
		return fmt.Errorf("the result of method %s is no struct of package %s", q.Name, j.entry.Package.Name)
	}
	if err := j.assign(q.Columns, fields, "the row of "+q.Name); err != nil {
		return err
	}
	for i := range q.Columns {
		if in.Columns[i].Embed == nil {
			continue
		}
		if err := j.embed(&q.Columns[i], *in.Columns[i].Embed, fields[i]); err != nil {
			return err
		}
	}
	return nil
}

// result is the type of one row, for the commands that return rows.
func (j joiner) result(q *Query, method goMethod) (goItem, bool) {
	var item goItem
	switch q.Command {
	case "one", "many":
		results := items(method.typ.Results, method.imports)
		if len(results) == 0 {
			return goItem{}, false
		}
		item = results[0]
	case "batchone", "batchmany":
		item = j.batchResult(q.Name)
	}
	if item.expr == nil {
		return goItem{}, false
	}
	item.name = ""
	if q.Command == "many" || q.Command == "batchmany" {
		list, ok := item.expr.(*ast.ArrayType)
		if !ok {
			return goItem{}, false
		}
		item.expr = list.Elt
	}
	return item, true
}

// batchResult is the row type in the callback of a batch: func(int, T, error).
func (j joiner) batchResult(query string) goItem {
	method, ok := j.pkg.results[query]
	if !ok || len(method.typ.Params.List) != 1 {
		return goItem{}
	}
	callback, ok := method.typ.Params.List[0].Type.(*ast.FuncType)
	if !ok {
		return goItem{}
	}
	args := items(callback.Params, method.imports)
	if len(args) != 3 {
		return goItem{}
	}
	return args[1]
}

// embed reads the model struct of a sqlc.embed.
func (j joiner) embed(c *Column, table jsonName, field goItem) error {
	columns, ok := j.req.table(table)
	if !ok {
		return fmt.Errorf("sqlc knows no table %s to embed", model.TableName(table))
	}
	fields, ok := j.structOf(field.expr, "")
	if !ok {
		return fmt.Errorf("the field of sqlc.embed(%s) is no struct", table.Name)
	}
	for _, column := range columns {
		out := column.column()
		out.Table = model.TableName(table)
		c.EmbedFields = append(c.EmbedFields, out)
	}
	return j.assign(c.EmbedFields, fields, "the model of "+table.Name)
}

// structOf finds the fields of a struct of the package, also by pointer. With
// a name, only that struct will do.
func (j joiner) structOf(expr ast.Expr, name string) ([]goItem, bool) {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	id, ok := expr.(*ast.Ident)
	if !ok || name != "" && id.Name != name {
		return nil, false
	}
	fields, ok := j.pkg.structs[id.Name]
	return fields, ok
}

// assign pairs columns with fields by position, the order that sqlc keeps.
func (j joiner) assign(columns []Column, fields []goItem, what string) error {
	if len(columns) != len(fields) {
		return fmt.Errorf("%s has %d fields for %d columns", what, len(fields), len(columns))
	}
	for i := range columns {
		var err error
		columns[i].GoField = fields[i].name
		if columns[i].GoType, err = j.goType(fields[i]); err != nil {
			return err
		}
	}
	return nil
}

func isDBTX(expr ast.Expr) bool {
	id, ok := expr.(*ast.Ident)
	return ok && id.Name == "DBTX"
}

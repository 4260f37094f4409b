package render

import "github.com/idemgen/idemgen/generator/model"

const pgtypePath = "github.com/jackc/pgx/v5/pgtype"

// goType is the Go type of a value: the one that sqlc emitted. Only members of
// a record have none, since sqlc doesn't see them: they get what sqlc's default
// for pgx is, or a pointer where they may be absent.
func goType(t model.Type, absent bool) model.GoType {
	if t.GoType.Expr != "" {
		return t.GoType
	}
	out := plainTypes[t.Kind]
	if out.Expr == "" {
		out = model.GoType{Expr: "pgtype." + string(t.Kind), Imports: []string{pgtypePath}}
	}
	switch {
	case t.Array:
		out.Expr = "[]" + out.Expr
	case (t.Nullable || absent) && out.Imports == nil && out.Expr != "[]byte":
		out.Expr = "*" + out.Expr
	}
	return out
}

// plainTypes are the kinds that have a built-in Go type; the others are in
// pgtype under the kind's own name.
var plainTypes = map[model.Kind]model.GoType{
	model.KindBool:   {Expr: "bool"},
	model.KindInt2:   {Expr: "int16"},
	model.KindInt4:   {Expr: "int32"},
	model.KindInt8:   {Expr: "int64"},
	model.KindFloat4: {Expr: "float32"},
	model.KindFloat8: {Expr: "float64"},
	model.KindText:   {Expr: "string"},
	model.KindBytea:  {Expr: "[]byte"},
	model.KindJSON:   {Expr: "[]byte"},
}

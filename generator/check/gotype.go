package check

import "github.com/idemgen/idemgen/generator/model"

// defaultGoType is the Go type of a value that sqlc knows nothing of: a member
// of a recordset, a key, a caller field.
func defaultGoType(t model.Type) model.GoType {
	g := plainGoType(t.Kind)
	if t.Nullable && len(g.Imports) == 0 && t.Kind != model.KindJSON && t.Kind != model.KindBytea && !t.Array {
		g.Expr = "*" + g.Expr
	}
	if t.Array {
		g.Expr = "[]" + g.Expr
	}
	return g
}

func plainGoType(k model.Kind) model.GoType {
	switch k {
	case model.KindBool:
		return model.GoType{Expr: "bool"}
	case model.KindInt2:
		return model.GoType{Expr: "int16"}
	case model.KindInt4:
		return model.GoType{Expr: "int32"}
	case model.KindInt8:
		return model.GoType{Expr: "int64"}
	case model.KindFloat4:
		return model.GoType{Expr: "float32"}
	case model.KindFloat8:
		return model.GoType{Expr: "float64"}
	case model.KindText:
		return model.GoType{Expr: "string"}
	case model.KindBytea, model.KindJSON, model.KindRecord:
		return model.GoType{Expr: "[]byte"}
	}
	return model.GoType{Expr: "pgtype." + string(k), Imports: []string{"github.com/jackc/pgx/v5/pgtype"}}
}

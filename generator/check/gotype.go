package check

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

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

// goOverride is the entry of sqlc's `overrides:` that gives a database type its
// Go type. One for values that may be null needs `nullable: true`: sqlc applies
// those without it to NOT NULL alone.
func goOverride(t model.Type, dbType string, nullable bool) string {
	goType := plainGoType(t.Kind).Expr
	switch {
	case t.Kind == model.KindJSON:
		goType = "encoding/json.RawMessage"
	case t.Kind == model.KindBytea:
		goType = "{type: byte, slice: true}"
	case strings.HasPrefix(goType, "pgtype."):
		goType = "github.com/jackc/pgx/v5/" + goType
	case nullable:
		goType = "{type: " + goType + ", pointer: true}"
	}
	if nullable {
		return "{db_type: " + dbType + ", nullable: true, go_type: " + goType + "}"
	}
	return "{db_type: " + dbType + ", go_type: " + goType + "}"
}

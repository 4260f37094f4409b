package schema

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

func TestType(t *testing.T) {
	cat := mustBuild(t, `CREATE TYPE payment_status AS ENUM ('a', 'b'); CREATE TYPE "Odd-Type" AS ENUM ('x');
CREATE DOMAIN word AS varchar(7) CHECK (VALUE <> ''); CREATE DOMAIN list AS int[]; CREATE SCHEMA app; CREATE TYPE app.k AS ENUM ('k');
CREATE TYPE comp AS (a int); CREATE TABLE tab (a int);`)
	tests := []struct {
		in, name string
		kind     model.Kind
		array    bool
		length   int
	}{
		{"pg_catalog.int8", "bigint", model.KindInt8, false, 0},
		{"bigserial", "bigint", model.KindInt8, false, 0},
		{"serial", "integer", model.KindInt4, false, 0},
		{"int", "integer", model.KindInt4, false, 0},
		{"INT4", "integer", model.KindInt4, false, 0},
		{"pg_catalog.varchar", "varchar", model.KindText, false, 0},
		{"character varying(20)", "varchar(20)", model.KindText, false, 20},
		{"varchar(20)[]", "varchar(20)[]", model.KindText, true, 20},
		{"char", "bpchar(1)", model.KindText, false, 1},
		{"char(3)", "bpchar(3)", model.KindText, false, 3},
		{"numeric(12,2)", "numeric(12,2)", model.KindNumeric, false, 0},
		{"decimal", "numeric", model.KindNumeric, false, 0},
		{"timestamp with time zone", "timestamptz", model.KindTimestamptz, false, 0},
		{"timestamptz(3)", "timestamptz(3)", model.KindTimestamptz, false, 0},
		{"time without time zone", "time", model.KindTime, false, 0},
		{"double precision", "double precision", model.KindFloat8, false, 0},
		{"float(10)", "real", model.KindFloat4, false, 0},
		{"citext", "citext", model.KindText, false, 0},
		{"ext.citext", "ext.citext", model.KindText, false, 0},
		{"text[]", "text[]", model.KindText, true, 0},
		{"_text", "text[]", model.KindText, true, 0},
		{"pg_catalog._int4", "integer[]", model.KindInt4, true, 0},
		{"interval day to second", "interval", model.KindInterval, false, 0},
		{"payment_status", "public.payment_status", model.KindText, false, 0},
		{"public.payment_status", "public.payment_status", model.KindText, false, 0},
		{"payment_status[]", "public.payment_status[]", model.KindText, true, 0},
		{"Odd-Type", `public."Odd-Type"`, model.KindText, false, 0},
		{`"Odd-Type"[]`, `public."Odd-Type"[]`, model.KindText, true, 0},
		{"app.k", "app.k", model.KindText, false, 0},
		{"word", "public.word", model.KindText, false, 7},
		{"list", "public.list", model.KindInt4, true, 0},
	}
	for _, tt := range tests {
		got, ok := cat.Type(tt.in)
		if !ok || got.Name != tt.name || got.Kind != tt.kind || got.Array != tt.array || got.Length != tt.length {
			t.Errorf("%s: %+v, %v", tt.in, got, ok)
		}
	}
	if got, _ := cat.Type("word[]"); len(got.Checks) != 1 || !got.Array {
		t.Errorf("word[]: %+v", got)
	}
	if got, _ := cat.Type("numeric(12,2)"); got.Precision != 12 || got.Scale != 2 {
		t.Errorf("numeric: %+v", got)
	}
	for _, in := range []string{"money", "int[][]", "list[]", "timetz", "hstore", "nope", "comp", "tab", "k", "", "int; DROP TABLE x", "pg_catalog.word", "interface{}"} {
		if got, ok := cat.Type(in); ok {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

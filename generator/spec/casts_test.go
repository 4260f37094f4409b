package spec

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

func TestCase_sqlc_1_ParametersThatSqlcBreaks(t *testing.T) {
	for sql, want := range map[string]struct{ at, message, hint string }{
		"SELECT @x::text AND y::int::bigint":              {},
		"SELECT @x::double precision, y::a::b":            {},
		"SELECT (@x::a)::b, sqlc.arg(x)::a::b":            {},
		"SELECT '@x::a::b', \"@x::a::b\"":                 {},
		"SELECT @users, @nullable, a @> b":                {},
		"SELECT 1, @x::varchar::text;":                    {"@x::varchar::text", "two casts: @x::varchar::text", "(@x::varchar)::text"},
		"SELECT @x::text[]::varchar[];":                   {"@x::text[]::varchar[]", "@x::text[]::varchar[]", "(@x::text[])::varchar[]"},
		"SELECT @x::numeric(12, 2)::int;":                 {"@x::", "@x::numeric(12, 2)::int", "(@x::numeric(12, 2))::int"},
		"SELECT @x :: int :: bigint;":                     {"@x :: int :: bigint", "@x::int::bigint", "(@x::int)::bigint"},
		"SELECT @x::double precision::text;":              {"@x::", "@x::double precision::text", "(@x::double precision)::text"},
		"SELECT @x::timestamp(3) with time zone::date;":   {"@x::", "@x::timestamp(3) with time zone::date", ")::date"},
		"SELECT @x::public.\"Mood\"::text FROM t;":        {"@x::", "two casts", "(@x::public.\"Mood\")::text"},
		"SELECT 1 WHERE a = @user;":                       {"@user", "reads user as a value", "@user_value"},
		"SELECT 1 WHERE a = @NULL AND b = @current_date;": {"@NULL", "reads NULL as a value", "@NULL_value"},
	} {
		text := "-- name: Q :one\n" + strings.TrimSuffix(sql, ";") + ";\n"
		var diags diag.List
		ParseQueryFile("q.sql", text, &diags)
		got := diags.Sorted()
		if want.at == "" {
			if len(got) > 0 {
				t.Errorf("%s: %v", sql, got)
			}
			continue
		}
		if len(got) == 0 || got[0].Code != diag.QueryCorrupt || !strings.Contains(got[0].Message, want.message) || !strings.Contains(got[0].Hint, want.hint) {
			t.Errorf("%s: got %v", sql, got)
			continue
		}
		if line := strings.Split(text, "\n")[1]; !strings.HasPrefix(line[got[0].Pos.Col-1:], want.at) || got[0].Pos.Line != 2 {
			t.Errorf("%s: at %s", sql, got[0].Pos)
		}
	}
}

package spec

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// TestParametersThatSqlcWouldBreak: each statement but the first ones has one
// parameter that sqlc makes something else of, without a word or with an error
// that names no place.
func TestParametersThatSqlcWouldBreak(t *testing.T) {
	for sql, want := range map[string]struct{ at, message, hint string }{
		"SELECT @a, @a::int, @a::numeric(12, 2), @a::timestamp with time zone, @a::public.mood[]": {},
		"SELECT (@a) * 2, (@a::int) % 2, 2 * @a::int, a + @b, -(@a), @a = 1, @a || @b, @a -> 'x'": {},
		"SELECT @a BETWEEN @b AND @c, @a IS NULL, @a IN (@b), @a LIKE @b, NOT @a, f(@a, @b)":      {},
		"SELECT sqlc.arg(a) * 2, sqlc.narg('b')::int / 2, sqlc.arg( c), SQLC.ARG(d)":              {},
		"SELECT a @> b, a @@ b, '@a * 2', path OPERATOR(public.@) 'x' -- @a * 2":                  {},

		"SELECT @a * 2":                          {"@a * 2", "reads @a * …", "write (@a::bigint) * … or sqlc.arg(a)"},
		"SELECT @a::int / 100":                   {"@a::int / 100", "reads @a::int / …", "write (@a::int) / … or sqlc.arg(a)"},
		"SELECT @a::int + 1":                     {"@a::int + 1", "reads @a::int + …", "(@a::int)"},
		"SELECT @a - 1":                          {"@a - 1", "@a - …", "(@a::bigint)"},
		"SELECT 2 + @a::int ^ 2":                 {"@a::int ^ 2", "@a::int ^ …", "(@a::int) ^"},
		"SELECT x, @a::timestamp AT TIME ZONE b": {"@a::timestamp AT", "@a::timestamp AT …", "(@a::timestamp) AT"},
		"SELECT @a::double precision % 2":        {"@a::double precision", "@a::double precision % …", "(@a::double precision) %"},
		"SELECT @a::text COLLATE \"C\"":          {"@a::text COLLATE", "@a::text COLLATE …", "(@a::text) COLLATE"},
		"SELECT @a[1]":                           {"@a[1]", "@a [ …", "sqlc.arg(a)"},
		"SELECT b * @a / 2":                      {"@a / 2", "@a / …", "sqlc.arg(a)"},
		"INSERT INTO t VALUES ((SELECT x FROM y WHERE z < @a::interval day to second * 2))": {"@a::interval day to second * 2", "@a::interval day to second * …", "sqlc.arg(a)"},
		"UPDATE t SET a = b, c = @a\n:: int\n* 2 WHERE d":                                   {"@a\n", "@a :: int * …", "(@a :: int) *"},

		"SELECT @ a":              {"@ a", "of @ a:", "write @a"},
		"SELECT @\"a\"":           {"@\"a\"", "of @\"a\":", "write @a"},
		"SELECT @a.b":             {"@a.b", "of @a.b:", "write @a"},
		"SELECT @a/* c */::int":   {},
		"SELECT @(a - b)":         {"@(a - b)", "every operator @", "abs(…)"},
		"SELECT @abs(1)":          {"@abs(1)", "every operator @", "abs(…)"},
		"SELECT path @ 'x'":       {"@ 'x'", "every operator @", "OPERATOR(public.@)"},
		"SELECT sqlc.arg(a )":     {"sqlc.arg(a )", "wrong piece of the text for sqlc.arg(a )", "write sqlc.arg(a)"},
		"SELECT sqlc.narg(\"a\")": {"sqlc.narg(", "for sqlc.narg(\"a\")", "write sqlc.narg(a)"},
		"SELECT sqlc.arg(a + 1)":  {"sqlc.arg(a + 1)", "one plain name", "write sqlc.arg(name)"},
		"SELECT sqlc.arg(a.b)":    {"sqlc.arg(a.b)", "one plain name", "write sqlc.arg(name)"},
	} {
		text := "-- name: Q :one\n-- A comment.\n" + sql + "\n;\n"
		var diags diag.List
		ParseQueryFile("q.sql", text, &diags)
		got := diags.Sorted()
		if want.at == "" {
			if len(got) > 0 {
				t.Errorf("%s: %v", sql, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != diag.ParamBroken || !strings.Contains(got[0].Message, want.message) || !strings.Contains(got[0].Hint, want.hint) {
			t.Errorf("%s: got %v", sql, got)
			continue
		}
		line := strings.SplitAfter(text, "\n")[got[0].Pos.Line-1]
		if !strings.HasPrefix(line[got[0].Pos.Col-1:], want.at) || got[0].Pos.Line != 3 {
			t.Errorf("%s: at %s", sql, got[0].Pos)
		}
	}
}

// TestEveryBrokenParameterIsReportedOnce: two of one expression are two, and
// one that another rule reports is not reported again.
func TestEveryBrokenParameterIsReportedOnce(t *testing.T) {
	for sql, want := range map[string]int{
		"VALUES (@id, @basket_cents::bigint * @percent / 100)": 2,
		"SELECT @a + @b":             1,
		"SELECT @a::int::bigint * 2": 1,
		"SELECT @user * 2":           1,
	} {
		var diags diag.List
		ParseQueryFile("q.sql", "-- name: Q :one\n"+sql+";\n", &diags)
		if got := diags.Sorted(); len(got) != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

// TestParamBrokenExplanationIsTrue tries the examples of `idemgen explain`.
func TestParamBrokenExplanationIsTrue(t *testing.T) {
	e, _ := diag.Explain(diag.ParamBroken)
	for sql, want := range map[string]bool{e.Wrong: true, e.Right: false} {
		var diags diag.List
		ParseQueryFile("q.sql", "-- name: Q :many\n"+sql+"\n", &diags)
		got := diags.Sorted()
		if (len(got) > 0 && got[0].Code == diag.ParamBroken) != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

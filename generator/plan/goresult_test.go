package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// goValue is a type of the table in docs/language.md, and values that a Go
// function may return for it.
type goValue struct {
	typ  string
	kind idem.Kind
	draw *rapid.Generator[any]
}

func boxed[T any](g *rapid.Generator[T]) *rapid.Generator[any] {
	return rapid.Map(g, func(v T) any { return v })
}

func constants(values ...any) *rapid.Generator[any] { return rapid.SampledFrom(values) }

// goText is text without U+0000, which no text of PostgreSQL has.
var goText = rapid.Map(rapid.String(), func(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "\x01\"\\\x7f\u2028")
})

var goTime = rapid.Map(rapid.Int64Range(-62135596800000000, 253402300799999999), func(micros int64) time.Time {
	return time.UnixMicro(micros).UTC()
})

var goNumeric = rapid.Custom(func(t *rapid.T) any {
	return pgtype.Numeric{Int: big.NewInt(rapid.Int64().Draw(t, "digits")), Exp: rapid.Int32Range(-40, 40).Draw(t, "exponent"), Valid: true}
})

var goInterval = rapid.Custom(func(t *rapid.T) any {
	return pgtype.Interval{
		Months: rapid.Int32Range(-10000, 10000).Draw(t, "months"), Days: rapid.Int32Range(-10000, 10000).Draw(t, "days"),
		Microseconds: rapid.Int64Range(-1e15, 1e15).Draw(t, "microseconds"), Valid: true,
	}
})

var goDocument = rapid.Custom(func(t *rapid.T) any {
	text, err := json.Marshal(drawAny(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	return text
})

// drawAny is a JSON value with members in any order and numbers of any spelling.
func drawAny(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 6).Draw(t, "form"); {
	case n == 0 && depth > 0:
		object := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			object[goText.Draw(t, "name")] = drawAny(t, depth-1)
		}
		return object
	case n == 1 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			list = append(list, drawAny(t, depth-1))
		}
		return list
	case n == 2:
		return goText.Draw(t, "text")
	case n == 3:
		return json.Number(rapid.SampledFrom([]string{"0", "-0", "-0.0", "1e3", "1.50", "1.5e-3", "12.50E1", "0.000e-2", "100", "1e30", "-1.25e2"}).Draw(t, "number"))
	case n == 4:
		return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "digits"))
	}
	return rapid.SampledFrom([]any{nil, true, false}).Draw(t, "word")
}

var goValues = []goValue{
	{"bool", idem.KindBool, boxed(rapid.Bool())},
	{"smallint", idem.KindInt2, boxed(rapid.Int16())},
	{"integer", idem.KindInt4, boxed(rapid.Int32())},
	{"bigint", idem.KindInt8, boxed(rapid.Int64())},
	{"numeric", idem.KindNumeric, rapid.OneOf(goNumeric, constants(
		pgtype.Numeric{NaN: true, Valid: true}, pgtype.Numeric{InfinityModifier: pgtype.Infinity, Valid: true}))}, // on 13: finiteNumeric
	{"real", idem.KindFloat4, rapid.OneOf(boxed(rapid.Float32()), constants(float32(1e6), float32(999999), float32(1e-5), float32(math.Inf(1)), float32(math.NaN())))},
	{"float8", idem.KindFloat8, rapid.OneOf(boxed(rapid.Float64()), constants(1e15, 999999999999999.0, 1e-4, 1e-5, math.Copysign(0, -1), math.Inf(-1), math.NaN()))},
	{"text", idem.KindText, boxed(goText)},
	{"uuid", idem.KindUUID, rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) any { return pgtype.UUID{Bytes: [16]byte(b), Valid: true} })},
	{"timestamptz", idem.KindTimestamptz, rapid.OneOf(
		rapid.Map(goTime, func(at time.Time) any { return pgtype.Timestamptz{Time: at, Valid: true} }),
		constants(pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}))},
	{"timestamp", idem.KindTimestamp, rapid.OneOf(
		rapid.Map(goTime, func(at time.Time) any { return pgtype.Timestamp{Time: at, Valid: true} }),
		constants(pgtype.Timestamp{InfinityModifier: pgtype.NegativeInfinity, Valid: true}))},
	{"date", idem.KindDate, rapid.OneOf(
		rapid.Map(goTime, func(at time.Time) any { return pgtype.Date{Time: at.Truncate(24 * time.Hour), Valid: true} }),
		constants(pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true}))},
	{"time", idem.KindTime, rapid.Map(rapid.Int64Range(0, 86400000000), func(micros int64) any { return pgtype.Time{Microseconds: micros, Valid: true} })},
	{"interval", idem.KindInterval, goInterval},
	{"bytea", idem.KindBytea, boxed(rapid.SliceOf(rapid.Byte()))},
	{"json", idem.KindJSON, goDocument},
	{"jsonb", idem.KindJSON, goDocument},
}

// finiteNumeric is numeric as it was before PostgreSQL 14.
var finiteNumeric = rapid.OneOf(goNumeric, constants(pgtype.Numeric{NaN: true, Valid: true}))

// goValuesOf are the values that a server has.
func goValuesOf(t *testing.T, pool *pgxpool.Pool) []goValue {
	var version int
	if err := pool.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		t.Fatal(err)
	}
	values := slices.Clone(goValues)
	if version < 140000 {
		values[slices.IndexFunc(values, func(v goValue) bool { return v.typ == "numeric" })].draw = finiteNumeric
	}
	return values
}

// list is an array with nulls in it.
func (v goValue) list(t *rapid.T, label string) any {
	var list []any
	for range rapid.IntRange(0, 3).Draw(t, label) {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			list = append(list, nil)
			continue
		}
		list = append(list, v.draw.Draw(t, label))
	}
	if list == nil {
		list = []any{}
	}
	return list
}

// Every type of the language in the answer of a Go function, single and in an
// array, has the bytes that SQL gives the same value.
func TestGoResultsLookLikeSQL(t *testing.T) {
	for _, bigintString := range []bool{false, true} {
		t.Run(fmt.Sprint("bigint as string ", bigintString), func(t *testing.T) { goResultsLookLikeSQL(t, bigintString) })
	}
}

func goResultsLookLikeSQL(t *testing.T, bigintString bool) {
	pool := idemtest.Open(t, idemtest.URL(t, tables), nil)
	known := goValuesOf(t, pool)
	var slots []slot
	var params []string
	var out []idem.GoResult
	for i, v := range known {
		for _, array := range []bool{false, true} {
			name, sql, mt := fmt.Sprintf("v%d", i), v.typ, typ(t, v.typ)
			if array {
				name, sql = name+"s", sql+"[]"
				mt.Array = true
			}
			slots = append(slots, slot{name: name, full: name, path: []string{name}, typ: mt})
			params = append(params, fmt.Sprintf("$%d::text::%s AS %s", len(params)+1, sql, name))
			out = append(out, idem.GoResult{Name: name, Kind: v.kind, Array: array, Nullable: true, JSONB: v.typ == "jsonb"})
		}
	}
	query := "SELECT " + renderer{bigintString: bigintString}.rowText(tree(slots), "d") + " FROM (SELECT " + strings.Join(params, ", ") + " OFFSET 0) d"
	var values []any
	handler := goHandler(t, pool, out, bigintString, func() []any { return values })

	rapid.Check(t, func(rt *rapid.T) {
		values = values[:0]
		texts := make([]any, 0, len(out))
		for _, v := range known {
			single := v.draw.Draw(rt, v.typ)
			list := v.list(rt, v.typ+"[]")
			values = append(values, single, list)
			texts = append(texts, sqlText(rt, v.typ, single), sqlList(rt, v.typ, list.([]any)))
		}
		var want string
		if err := pool.QueryRow(context.Background(), query, texts...).Scan(&want); err != nil {
			rt.Fatal(err)
		}
		answered := httptest.NewRecorder()
		handler.ServeHTTP(answered, httptest.NewRequest("GET", "/v", nil))
		if got := answered.Body.String(); answered.Code != 200 || got != want {
			rt.Fatalf("%d\n got %s\nwant %s", answered.Code, got, want)
		}
	})
}

// sqlText is what pgx sends for a value.
func sqlText(t *rapid.T, typ string, x any) string {
	oids := map[string]string{"smallint": "int2", "integer": "int4", "bigint": "int8", "real": "float4"}
	name := typ
	if short, ok := oids[typ]; ok {
		name = short
	}
	m := pgtype.NewMap()
	known, ok := m.TypeForName(name)
	if !ok {
		t.Fatalf("pgx does not know %s", name)
	}
	if name == "interval" { // in text form pgx cuts what it can't say
		v := x.(pgtype.Interval)
		// No more than 2³¹ microseconds are taken before PostgreSQL 15.
		const hour = 3_600_000_000
		rest := time.Duration(v.Microseconds%hour) * time.Microsecond
		return fmt.Sprintf("%d mons %d days %d hours %.6f seconds", v.Months, v.Days, v.Microseconds/hour, rest.Seconds())
	}
	raw, err := m.Encode(known.OID, pgtype.TextFormatCode, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func sqlList(t *rapid.T, typ string, list []any) string {
	items := make([]string, len(list))
	for i, x := range list {
		items[i] = "NULL"
		if x != nil {
			items[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sqlText(t, typ, x)) + `"`
		}
	}
	return "{" + strings.Join(items, ",") + "}"
}

// goHandler answers with what one Go function returns.
func goHandler(t *testing.T, pool *pgxpool.Pool, out []idem.GoResult, bigintString bool, values func() []any) http.Handler {
	t.Helper()
	op := &idem.Operation{Name: "V", Method: "GET", Path: "/v", Status: 200, Strategy: idem.Stepped, Policy: idem.Policy{Timeout: 30 * time.Second},
		Steps:  []idem.Step{{Name: "V", Go: &idem.GoStep{Func: "V", Out: out, BigintString: bigintString}}},
		Answer: idem.Answer{Kind: "step"}}
	svc, err := idem.New(pool, idem.Config{Service: "v", Profile: idem.ProfileIETF, Scope: -1, Operations: []*idem.Operation{op}},
		func(*http.Request) ([]any, error) { return nil, nil }, idem.Options{Go: map[string]idem.GoFunc{
			"V": func(context.Context, idem.Tx, func(...any) error) ([]any, error) { return values(), nil },
		}})
	if err != nil {
		t.Fatal(err)
	}
	return svc.Handler("V")
}

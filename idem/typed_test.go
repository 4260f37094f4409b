package idem

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

type (
	enumText  string
	moneyText struct{ text string }
	uuidLike  [16]byte
	nullEnum  struct {
		enumText
		Valid bool
	}
	lineStruct struct {
		Sku   int64
		Price pgtype.Numeric
		Tags  []string
		Qty   Optional[int32]
	}
)

func (m moneyText) Value() (driver.Value, error) { return m.text, nil }

func (e nullEnum) Value() (driver.Value, error) {
	if !e.Valid {
		return nil, nil
	}
	return string(e.enumText), nil
}

func (l lineStruct) IdemValues() []any { return []any{l.Sku, l.Price, l.Tags, l.Qty} }

func numericOf(text string) pgtype.Numeric {
	var n pgtype.Numeric
	if err := n.Scan(text); err != nil {
		panic(err)
	}
	return n
}

var testUUID = uuidLike{0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11}

func TestTyped_scalars(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	cases := []struct {
		kind Kind
		in   any
		want string
	}{
		{KindText, "a", "a"}, {KindText, "", ""}, {KindText, enumText("new"), "new"}, {KindText, nullEnum{"new", true}, "new"}, {KindText, nullEnum{}, "<null>"},
		{KindText, pgtype.Text{String: "x", Valid: true}, "x"}, {KindText, pgtype.Text{}, "<null>"}, {KindText, ptr("p"), "p"}, {KindText, (*string)(nil), "<null>"}, {KindText, nil, "<null>"},
		{KindText, Some("o"), "o"}, {KindText, Optional[string]{}, "<absent>"}, {KindText, Some((*string)(nil)), "<null>"}, {KindText, Some(pgtype.Text{}), "<null>"},
		{KindBool, true, "true"}, {KindBool, pgtype.Bool{Bool: false, Valid: true}, "false"},
		{KindInt2, int16(-3), "-3"}, {KindInt4, int32(5), "5"}, {KindInt8, int64(math.MaxInt64), "9223372036854775807"}, {KindInt8, pgtype.Int8{Int64: 7, Valid: true}, "7"}, {KindInt4, ptr(int32(0)), "0"},
		{KindNumeric, numericOf("1.50"), "1.50"}, {KindNumeric, pgtype.Numeric{Int: big.NewInt(15), Exp: 1, Valid: true}, "150"}, {KindNumeric, moneyText{"007.25"}, "7.25"}, {KindNumeric, pgtype.Numeric{}, "<null>"},
		{KindNumeric, "1.5", "1.5"}, {KindFloat8, 0.1, "0.1"}, {KindFloat8, 1e22, "1e+22"}, {KindFloat8, math.Inf(-1), "-Infinity"}, {KindFloat8, math.NaN(), "NaN"}, {KindFloat4, float32(0.1), "0.1"},
		{KindUUID, pgtype.UUID{Bytes: testUUID, Valid: true}, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, {KindUUID, [16]byte(testUUID), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, {KindUUID, testUUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, {KindUUID, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{KindTimestamptz, at, "2024-02-29T11:00:00.123456Z"}, {KindTimestamptz, pgtype.Timestamptz{Time: at, Valid: true}, "2024-02-29T11:00:00.123456Z"}, {KindTimestamptz, &at, "2024-02-29T11:00:00.123456Z"},
		{KindTimestamptz, pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, "-infinity"}, {KindTimestamptz, "2024-02-29T12:00:00+01:00", "2024-02-29T11:00:00.000000Z"},
		{KindTimestamp, pgtype.Timestamp{Time: at, Valid: true}, "2024-02-29T12:00:00.123456"}, {KindTimestamp, at, "2024-02-29T12:00:00.123456"}, {KindDate, pgtype.Date{Time: at, Valid: true}, "2024-02-29"}, {KindDate, at, "2024-02-29"},
		{KindTime, pgtype.Time{Microseconds: 3_600_000_001, Valid: true}, "01:00:00.000001"}, {KindTime, pgtype.Time{Microseconds: 86_400_000_000, Valid: true}, "24:00:00.000000"},
		{KindInterval, pgtype.Interval{Months: 14, Days: -3, Microseconds: 3_661_500_000, Valid: true}, "P14M-3DT1H1M1.5S"}, {KindInterval, 90 * time.Minute, "PT1H30M"}, {KindInterval, "P1W", "P7D"}, {KindInterval, pgtype.Interval{}, "<null>"}, {KindInterval, (*time.Duration)(nil), "<null>"},
		{KindBytea, []byte("hi"), `\x6869`}, {KindBytea, []byte{}, `\x`}, {KindBytea, []byte(nil), `\x`},
		{KindJSON, []byte(`{"a": 1}`), `{"a": 1}`}, {KindJSON, json.RawMessage(`[1]`), `[1]`}, {KindJSON, map[string]int{"a": 1}, `{"a":1}`}, {KindJSON, []byte("null"), "<null>"}, {KindJSON, []byte(nil), "<null>"},
	}
	for i, c := range cases {
		d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: c.kind}))
		values, err := encodeInputs(d, []any{c.in}, nil)
		if err != nil {
			t.Errorf("%d %s %T: %v", i, c.kind, c.in, err)
		} else if got := textOf(values[0]); got != c.want {
			t.Errorf("%d %s %T: got %q, want %q", i, c.kind, c.in, got, c.want)
		}
	}
}

func TestTyped_arrays(t *testing.T) {
	cases := []struct {
		kind Kind
		in   any
		want string
	}{
		{KindText, []string{"a", "b c", ""}, `{a,"b c",""}`}, {KindText, []string(nil), `{}`}, {KindText, []*string{ptr("x"), nil}, `{x,NULL}`}, {KindText, []enumText{"new"}, `{new}`},
		{KindInt8, []int64{1, -2}, `{1,-2}`}, {KindInt8, pgtype.FlatArray[int64]{3}, `{3}`}, {KindInt4, pgtype.Array[pgtype.Int4]{Elements: []pgtype.Int4{{Int32: 1, Valid: true}, {}}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 1}}, Valid: true}, `{1,NULL}`},
		{KindBytea, [][]byte{[]byte("hi"), nil}, `{"\\x6869",NULL}`}, {KindUUID, []pgtype.UUID{{Bytes: testUUID, Valid: true}}, `{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}`},
		{KindInterval, []pgtype.Interval{{Days: 1, Valid: true}}, `{P1D}`}, {KindJSON, [][]byte{[]byte(`{"a":1}`)}, `{"{\"a\":1}"}`}, {KindBool, Some([]bool{true}), `{true}`}, {KindInt4, &[]int32{1}, `{1}`},
	}
	for i, c := range cases {
		d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: c.kind, Array: true}))
		values, err := encodeInputs(d, []any{c.in}, nil)
		if err != nil {
			t.Errorf("%d %s %T: %v", i, c.kind, c.in, err)
		} else if got := textOf(values[0]); got != c.want {
			t.Errorf("%d %s %T: got %q, want %q", i, c.kind, c.in, got, c.want)
		}
	}
}

// Go and HTTP give the same values and the same fingerprint.
func TestTyped_sameAsDecoded(t *testing.T) {
	line := []Field{{Name: "sku", Kind: KindInt8}, {Name: "price", Kind: KindNumeric}, {Name: "tags", Kind: KindText, Array: true, Nullable: true}, {Name: "qty", Kind: KindInt4, Default: ptr("1")}}
	d := compileTest(t, decodeOp(
		Field{From: FromPath, Name: "id", Kind: KindUUID},
		Field{From: FromBody, Name: "lines", Kind: KindRecord, List: true, Elem: line},
		Field{From: FromBody, Name: "first", Kind: KindRecord, Elem: line},
		Field{From: FromBody, Name: "note", Kind: KindText, Default: ptr("-")},
		Field{From: FromBody, Name: "when", Kind: KindInterval, Nullable: true},
		Field{From: FromCaller, Name: "tenant", Kind: KindText, Scope: true},
	))
	lines := []lineStruct{{1, numericOf("1.50"), []string{"a"}, Some(int32(2))}, {2, numericOf("3"), nil, Optional[int32]{}}}
	in := []any{pgtype.UUID{Bytes: testUUID, Valid: true}, lines, &lines[1], Optional[string]{}, pgtype.Interval{}}
	values, err := encodeInputs(d, in, []any{"t"})
	if err != nil {
		t.Fatal(err)
	}
	r := request{
		path: func(string) string { return "A0EEBC999C0B4EF8BB6D6BB9BD380A11" }, caller: []any{"t"},
		body: []byte(`{"lines":[{"qty":2,"sku":1,"price":"1.50","tags":["a"]},{"sku":2,"price":3}],"first":{"sku":2,"price":3}}`),
	}
	decoded := decodeTest(t, d, r)
	for i := range values {
		if values[i].Text != decoded[i].Text || len(values[i].Elems) != len(decoded[i].Elems) {
			t.Errorf("field %d: %+v from Go, %+v from HTTP", i, values[i], decoded[i])
		}
	}
	if diff := fingerprintDiff(d.fingerprint(values), d.fingerprint(decoded)); diff != nil {
		t.Errorf("differs in %v", diff)
	}
}

func TestTyped_refused(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "a", Kind: KindText},
		Field{From: FromBody, Name: "b", Kind: KindNumeric},
		Field{From: FromBody, Name: "c", Kind: KindInt2, Array: true},
		Field{From: FromBody, Name: "d", Kind: KindRecord, List: true, Elem: []Field{{Name: "sku", Kind: KindInt8}, {Name: "price", Kind: KindNumeric}, {Name: "tags", Kind: KindText, Array: true, Nullable: true}, {Name: "qty", Kind: KindInt4, Nullable: true}}},
	))
	bad := []lineStruct{{Sku: 1, Price: numericOf("1")}, {Sku: 1, Price: pgtype.Numeric{NaN: true, Valid: true}}}
	_, err := encodeInputs(d, []any{"a\x00", pgtype.Numeric{NaN: true, Valid: true}, []string{"1", "x"}, bad}, nil)
	wantError(t, err, 422, "input-invalid", "/a", "/b", "/c/1", "/d/1/price")

	for name, in := range map[string][]any{
		"too few values": {"a"},
		"no such type":   {"a", numericOf("1"), struct{}{}, nil},
		"no IdemValues":  {"a", numericOf("1"), nil, []int{1}},
	} {
		_, err := encodeInputs(d, in, nil)
		if err == nil || err.Status != 500 || err.Code != "internal" || err.Detail != "" || err.Unwrap() == nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTyped_caller(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromCaller, Name: "id", Kind: KindInt8}, Field{From: FromCaller, Name: "role", Kind: KindText, Nullable: true}))
	values := decodeTest(t, d, request{caller: []any{int64(5), nil}})
	if values[0].Text != "5" || !values[1].Null {
		t.Errorf("got %+v", values)
	}
	for _, caller := range [][]any{nil, {nil, nil}} {
		if _, err := d.decode(request{caller: caller}); err == nil || err.Status != 500 {
			t.Errorf("%v: got %v", caller, err)
		}
	}
	// A value that came from the client, as a header that Caller hands on.
	if _, err := d.decode(request{caller: []any{"x", nil}}); err == nil || err.Status != 400 || err.Code != "caller-invalid" {
		t.Errorf("got %v", err)
	}
}

func TestErrors(t *testing.T) {
	err := Fail(409, "gone", "It is gone")
	if CodeOf(fmt.Errorf("wrapped: %w", err)) != "gone" || CodeOf(fmt.Errorf("other")) != "" || CodeOf(nil) != "" {
		t.Error("CodeOf")
	}
	err.Detail = "really"
	for range 5 {
		err.Fields = append(err.Fields, FieldError{"/a", "x", "is wrong"})
	}
	if got := err.Error(); !strings.HasPrefix(got, "409 gone: It is gone: really; /a is wrong") || !strings.HasSuffix(got, "(and 2 more)") {
		t.Error(got)
	}
}

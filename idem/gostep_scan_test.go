package idem

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgtype"
)

// goLine is an element as emitted code declares it.
type goLine struct {
	Sku  string
	Qty  int32
	Note *string
}

func (e *goLine) IdemFields() []any { return []any{&e.Sku, &e.Qty, &e.Note} }

// Every kind of input reaches the Go function as the Go value that sqlc would
// give it: from the request, and from an earlier step.
func TestGoStepTakesEveryKind(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 2, 29, 23, 0, 0, 500_000_000, time.UTC)
	line := []Field{{From: FromBody, Name: "sku", Required: true}, {From: FromBody, Name: "qty", Kind: KindInt4, Required: true},
		{From: FromBody, Name: "note", Nullable: true}}
	note := "n"
	cases := []struct {
		field Field
		json  string
		sql   string // the same from a step; "" where none can give it
		want  any
	}{
		{Field{Kind: KindBool}, `true`, "true::text", true},
		{Field{Kind: KindInt2}, `-7`, "'-7'", int16(-7)},
		{Field{Kind: KindInt8}, `9007199254740993`, "'9007199254740993'", int64(9007199254740993)},
		{Field{Kind: KindFloat8}, `0.1`, "'0.1'", 0.1},
		{Field{Kind: KindFloat8}, `"NaN"`, "'Infinity'", nil},
		{Field{Kind: KindText}, `"a\"b"`, `'a"b'`, `a"b`},
		{Field{Kind: KindText, Nullable: true}, `null`, "NULL", (*string)(nil)},
		{Field{Kind: KindBytea}, `"AP8="`, `'\x00ff'`, []byte{0, 255}},
		{Field{Kind: KindJSON}, `{"a": 1}`, `'{"a": 1}'`, []byte(`{"a": 1}`)},
		{Field{Kind: KindTimestamptz}, `"2024-02-29T23:00:00.5Z"`, "idem.rfc3339('2024-02-29T23:00:00.5Z')", pgtype.Timestamptz{Time: at.Local(), Valid: true}},
		{Field{Kind: KindTimestamp}, `"2024-02-29T23:00:00.5"`, "'2024-02-29T23:00:00.5'", pgtype.Timestamp{Time: at, Valid: true}},
		{Field{Kind: KindInterval}, `"P1M2DT3.5S"`, "idem.interval_iso('1 mon 2 days 3.5 seconds')", pgtype.Interval{Months: 1, Days: 2, Microseconds: 3_500_000, Valid: true}},
		{Field{Kind: KindInt4, Array: true}, `[1, 2]`, "'{1,2}'", []int32{1, 2}},
		{Field{Kind: KindInterval, Array: true}, `["P1D"]`, "'{1 day}'", []pgtype.Interval{{Days: 1, Valid: true}}},
		{Field{Kind: KindTimestamp, Array: true}, `["2024-02-29T23:00:00.5"]`, "(ARRAY['2024-02-29 23:00:00.5'::timestamp])::text", []pgtype.Timestamp{{Time: at, Valid: true}}},
		{Field{Kind: KindRecord, List: true, Elem: line}, `[{"sku": "a", "qty": 1, "note": "n"}, {"qty": 2, "sku": "b"}]`, "",
			[]goLine{{"a", 1, &note}, {"b", 2, nil}}},
		{Field{Kind: KindRecord, Elem: line}, `{"sku": "a", "qty": 1}`, "", &goLine{"a", 1, nil}},
		{Field{Kind: KindRecord, Elem: line, Nullable: true}, `null`, "", (*goLine)(nil)},
		{Field{Kind: KindInt8, Nullable: true}, `5`, "", Some(int64(5))},
	}
	op := &Operation{Name: "Take", Method: http.MethodPost, Path: "/take", Status: 200, Strategy: Stepped, Policy: shopPolicy(0),
		SQL: "\n-- statement: step.Give\nSELECT ", Steps: []Step{{Name: "Give", Section: "step.Give"}, {Name: "Take", Go: &GoStep{Func: "Take"}}}}
	body, take := "{", &op.Steps[1]
	var into []any
	want := []any{}
	add := func(field Field, arg Arg, value any) {
		take.Args, take.Go.In = append(take.Args, arg), append(take.Go.In, field)
		if value == nil {
			value = float64(0) // not a number: compared below by its text
		}
		into, want = append(into, reflect.New(reflect.TypeOf(value)).Interface()), append(want, value)
	}
	for i, c := range cases {
		c.field.From, c.field.Name, c.field.Required = FromBody, fmt.Sprintf("f%d", i), true
		op.Fields = append(op.Fields, c.field)
		if i > 0 {
			body += ", "
		}
		body += fmt.Sprintf("%q: %s", c.field.Name, c.json)
		add(c.field, Arg{From: ArgField, Field: i}, c.want)
		if c.sql != "" {
			if op.Steps[0].Results.Text > 0 {
				op.SQL += ", "
			}
			op.SQL += c.sql
			add(c.field, Arg{From: ArgStep, Column: op.Steps[0].Results.Text}, c.want)
			op.Steps[0].Results.Text++
		}
	}
	op.SQL += ";\n"
	service, err := New(idemtest.Pool(t), shopConfig(op), shopCaller, Options{Go: map[string]GoFunc{
		"Take": func(_ context.Context, _ Tx, scan func(...any) error) ([]any, error) { return nil, scan(into...) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, service.pools.all[0].Pool, http.NewServeMux()}
	s.mux.Handle("/Take/{id}", service.Handler("Take"))
	wantStatus(t, s.post("Take", "", body+"}"), 200)
	for i := range into {
		got := reflect.ValueOf(into[i]).Elem().Interface()
		if f, ok := got.(float64); ok && (f != f || f > 1e300) {
			continue // NaN, Infinity
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: got %#v, want %#v", take.Go.In[i].Name, got, want[i])
		}
	}
}

// An input that was not sent leaves its Optional unset.
func TestGoStepTakesNothing(t *testing.T) {
	f, err := bindField(Field{Name: "f", Kind: KindInt8, Nullable: true}, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	var in Optional[*int64]
	if err := f.scan(Value{}, &in); err != nil || in.Set {
		t.Errorf("%v, %v", in, err)
	}
	if err := f.scan(nullValue(), &in); err != nil || !in.Set || in.Value != nil {
		t.Errorf("null: %v, %v", in, err)
	}
	var number int64
	if err := f.scan(nullValue(), &number); err == nil {
		t.Error("null became a number")
	}
}

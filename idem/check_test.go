package idem

import (
	"fmt"
	"testing"
)

func TestCheck_rules(t *testing.T) {
	cases := []struct {
		field Field
		good  []string
		bad   map[string]string // JSON value to code
	}{
		{Field{Kind: KindText, Length: 3}, []string{`"abc"`, `"üüü"`, `"😀😀😀"`, `""`}, map[string]string{`"abcd"`: "max_length"}},
		{Field{Kind: KindText, Enum: []string{"new", "old"}}, []string{`"new"`}, map[string]string{`"New"`: "enum", `""`: "enum"}},
		{Field{Kind: KindInt8, Checks: []Check{{Op: CheckExclusiveMin, Value: "0"}}}, []string{`1`}, map[string]string{`0`: "exclusive_minimum", `-1`: "exclusive_minimum"}},
		{Field{Kind: KindInt4, Checks: []Check{{Op: CheckMin, Value: "1.5"}, {Op: CheckMax, Value: "10"}}}, []string{`2`, `10`}, map[string]string{`1`: "minimum", `11`: "maximum"}},
		{Field{Kind: KindNumeric, Checks: []Check{{Op: CheckMin, Value: "0.10"}, {Op: CheckExclusiveMax, Value: "100"}}},
			[]string{`"0.1"`, `0.100`, `99.9999999999999999999`}, map[string]string{`"0.0999999999999999999"`: "minimum", `1e2`: "exclusive_maximum", `-1`: "minimum"}},
		{Field{Kind: KindFloat8, Checks: []Check{{Op: CheckMax, Value: "1"}}}, []string{`1`, `-1e300`, `"-Infinity"`}, map[string]string{`1.5`: "maximum", `"Infinity"`: "maximum", `"NaN"`: "maximum"}},
		{Field{Kind: KindFloat8, Checks: []Check{{Op: CheckMin, Value: "1"}}}, []string{`"NaN"`, `"Infinity"`}, map[string]string{`"-Infinity"`: "minimum"}},
		{Field{Kind: KindText, Checks: []Check{{Op: CheckMinLength, Value: "2"}, {Op: CheckPattern, Value: "^[A-Z]+$"}}}, []string{`"AB"`}, map[string]string{`"A"`: "min_length", `"ab"`: "pattern"}},
		{Field{Kind: KindBytea, Checks: []Check{{Op: CheckMaxLength, Value: "2"}}}, []string{`"aGk="`, `""`}, map[string]string{`"aGlo"`: "max_length"}},
		{Field{Kind: KindNumeric, Checks: []Check{{Op: CheckIn, Values: []string{"1.5", "2"}}}}, []string{`1.50`, `"2.0"`}, map[string]string{`1.51`: "enum"}},
		{Field{Kind: KindText, Checks: []Check{{Op: CheckNotEqual, Value: ""}}}, []string{`" "`}, map[string]string{`""`: "not_equal"}},
		{Field{Kind: KindInt4, Checks: []Check{{Op: CheckNotEqual, Value: "0"}}}, []string{`1`}, map[string]string{`0.0`: "not_equal"}},
		{Field{Kind: KindTimestamptz, Checks: []Check{{Op: CheckMin, Value: "2024-01-01T00:00:00Z"}}}, []string{`"2024-01-01T01:00:00+01:00"`}, map[string]string{`"2024-01-01T00:00:00+01:00"`: "minimum"}},
		{Field{Kind: KindDate, Checks: []Check{{Op: CheckMax, Value: "2024-12-31"}}}, []string{`"2024-12-31"`}, map[string]string{`"2025-01-01"`: "maximum"}},
		{Field{Kind: KindInterval, Checks: []Check{{Op: CheckMin, Value: "P1M"}}}, []string{`"P30D"`, `"PT720H"`}, map[string]string{`"P29DT23H"`: "minimum"}},
		{Field{Kind: KindText, Array: true, Length: 2}, []string{`["ab",null]`, `[]`}, map[string]string{`["abc"]`: "max_length"}},
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i, " ", c.field.Kind), func(t *testing.T) {
			c.field.From, c.field.Name = FromBody, "v"
			d := compileTest(t, decodeOp(c.field))
			for _, good := range c.good {
				if err := d.check(decodeTest(t, d, bodyOf(`{"v":`+good+`}`))); err != nil {
					t.Errorf("%s: %v", good, err)
				}
			}
			for bad, code := range c.bad {
				err := d.check(decodeTest(t, d, bodyOf(`{"v":`+bad+`}`)))
				if err == nil || len(err.Fields) != 1 || err.Fields[0].Code != code {
					t.Errorf("%s: got %v, want %s", bad, err, code)
				}
			}
		})
	}
}

func TestCheck_allFieldsAtOnce(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromQuery, Name: "q", Kind: KindText, Required: true},
		Field{From: FromBody, Name: "a.b", Kind: KindInt4, Required: true},
		Field{From: FromBody, Name: "c", Kind: KindInt4},
		Field{From: FromBody, Name: "d", Kind: KindText, Nullable: true, Length: 1},
		Field{From: FromBody, Name: "e", Kind: KindText, Array: true, Enum: []string{"x"}},
		Field{From: FromCaller, Name: "t", Kind: KindText, Length: 1},
	))
	r := bodyOf(`{"c":null,"d":"xx","e":["x","y"]}`)
	r.caller = []any{"long"}
	wantError(t, d.check(decodeTest(t, d, r)), 422, "input-invalid", "query:q", "/a/b", "/c", "/d", "/e/1")
	// An optional field that is no null is only refused as null (PATCH).
	r = request{rawQuery: "q=", body: []byte(`{"a":{"b":1},"d":null}`), caller: []any{"x"}}
	if err := d.check(decodeTest(t, d, r)); err != nil {
		t.Error(err)
	}
}

// A rule with a declared answer gives it, unless something else is wrong too.
func TestADeclaredAnswerOfACheck(t *testing.T) {
	declared := &Problem{Status: 409, Code: "amount_not_positive", Title: "amount must be positive"}
	d, err := compileFields(&Operation{Fields: []Field{
		{From: FromBody, Name: "amount", Kind: KindInt8, Required: true, Checks: []Check{{Op: CheckExclusiveMin, Value: "0", Problem: declared}}},
		{From: FromBody, Name: "note", Length: 3},
	}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"amount": 0}`:                 "409 amount_not_positive",
		`{"amount": 0, "note": "long"}`: "422 input-invalid",
		`{"note": "long"}`:              "422 input-invalid",
		`{}`:                            "422 input-invalid",
	} {
		values, refused := d.decode(request{body: []byte(body)})
		if refused != nil {
			t.Fatal(refused)
		}
		got := d.check(values)
		if got == nil || fmt.Sprintf("%d %s", got.Status, got.Code) != want || len(got.Fields) == 0 {
			t.Errorf("%s: %v", body, got)
		}
	}
}

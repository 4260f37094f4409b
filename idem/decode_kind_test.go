package idem

import (
	"strings"
	"testing"
)

// kindCases: a JSON value, and the canonical text or "!code" of the refusal.
var kindCases = map[Kind][][2]string{
	KindText: {
		{`"abc"`, "abc"}, {`""`, ""}, {`"ü😀"`, "ü😀"}, {`"\u00fc\ud83d\ude00"`, "ü😀"},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"}, {`"a\u0000b"`, "!nul"}, {`1`, "!type"}, {`true`, "!type"},
		{`{}`, "!type"}, {`[]`, "!type"}, {`"null"`, "null"},
	},
	KindBool: {{`true`, "true"}, {`false`, "false"}, {`"true"`, "!type"}, {`1`, "!type"}, {`0`, "!type"}},
	KindInt2: {{`32767`, "32767"}, {`-32768`, "-32768"}, {`32768`, "!range"}, {`"1"`, "!type"}, {`1.0`, "1"}},
	KindInt4: {
		{`0`, "0"}, {`-0`, "0"}, {`-0.0`, "0"}, {`1e3`, "1000"}, {`1.50e1`, "15"}, {`100e-2`, "1"}, {`1.5`, "!type"},
		{`1e-1`, "!type"}, {`2147483647`, "2147483647"}, {`2147483648`, "!range"}, {`1e1000000`, "!range"},
		{`1e99999999999999999999`, "!range"}, {`"12"`, "!type"}, {`true`, "!type"},
	},
	KindInt8: {
		{`9007199254740993`, "9007199254740993"}, {`"9007199254740993"`, "9007199254740993"},
		{`9223372036854775807`, "9223372036854775807"}, {`9223372036854775808`, "!range"},
		{`-9223372036854775808`, "-9223372036854775808"}, {`9.223372036854775807e18`, "9223372036854775807"},
		{`"1.0"`, "1"}, {`"x"`, "!type"}, {`""`, "!type"}, {`" 1"`, "!type"}, {`"0x10"`, "!type"}, {`"1_0"`, "!type"},
	},
	KindNumeric: {
		{`"1.50"`, "1.50"}, {`1.50`, "1.50"}, {`1e2`, "100"}, {`15e-1`, "1.5"}, {`1e-3`, "0.001"}, {`".5"`, "0.5"}, {`"5."`, "5"},
		{`"+7"`, "7"}, {`"007.10"`, "7.10"}, {`-0.10`, "-0.10"}, {`"NaN"`, "!type"}, {`"Infinity"`, "!type"}, {`"1e1000000"`, "!range"},
		{`1e400`, "1" + strings.Repeat("0", 400)}, {`1e401`, "!range"}, {`"."`, "!type"}, {`"-"`, "!type"}, {`"1e"`, "!type"}, {`true`, "!type"},
		{`123456789012345678901234567890.123456789`, "123456789012345678901234567890.123456789"},
		{"1" + strings.Repeat("0", 1000), "!range"},
	},
	KindFloat4: {{`0.1`, "0.1"}, {`16777217`, "1.6777216e+07"}, {`1e39`, "!range"}, {`1e-60`, "!range"}},
	KindFloat8: {
		{`1`, "1"}, {`1.0`, "1"}, {`1e0`, "1"}, {`0.1`, "0.1"}, {`-0.0`, "0"}, {`1e309`, "!range"}, {`1e-400`, "!range"}, {`5e-324`, "5e-324"},
		{`"NaN"`, "NaN"}, {`"Infinity"`, "Infinity"}, {`"-Infinity"`, "-Infinity"}, {`"1"`, "!type"}, {`"nan"`, "!type"}, {`0e500`, "!range"},
	},
	KindUUID: {
		{`"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{`"{A0EEBC99-9C0B4EF8BB6D-6BB9-BD380A11}"`, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{`"a0eebc999c0b4ef8bb6d6bb9bd380a11"`, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{`"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1"`, "!type"}, {`"-a0eebc999c0b4ef8bb6d6bb9bd380a11"`, "!type"},
		{`"a0eebc999c0b4ef8bb6d6bb9bd380a11-"`, "!type"}, {`"a0e-ebc999c0b4ef8bb6d6bb9bd380a11"`, "!type"}, {`""`, "!type"}, {`"{}"`, "!type"},
	},
	KindTimestamptz: {
		{`"2024-02-29T12:00:00Z"`, "2024-02-29T12:00:00.000000Z"}, {`"2024-02-29T12:00:00.5+02:30"`, "2024-02-29T09:30:00.500000Z"},
		{`"2024-02-29t12:00:00.123456000z"`, "2024-02-29T12:00:00.123456Z"}, {`"2024-02-29T12:00:00.1234567Z"`, "!precision"},
		{`"2023-02-29T12:00:00Z"`, "!range"}, {`"2024-02-29T12:00:00"`, "!type"}, {`"2024-02-29 12:00:00Z"`, "!type"},
		{`"2024-02-29T24:00:00Z"`, "!range"}, {`"2016-12-31T23:59:60Z"`, "2017-01-01T00:00:00.000000Z"}, {`"2024-01-01T00:60:00Z"`, "!range"},
		{`"0001-01-01T00:00:00+01:00"`, "!range"}, {`"9999-12-31T23:59:59-01:00"`, "!range"}, {`"0000-01-01T00:00:00Z"`, "!range"},
		{`"2024-02-29T12:00:00+24:00"`, "!type"}, {`"2024-02-29T12:00:00+02"`, "!type"}, {`"infinity"`, "!type"}, {`1709208000`, "!type"},
		{`"2024-02-29T12:00:00.Z"`, "!type"}, {`"2024-02-29T12:00:00Zx"`, "!type"},
	},
	KindTimestamp: {
		{`"2024-02-29T12:00:00"`, "2024-02-29T12:00:00.000000"}, {`"2024-02-29T12:00"`, "2024-02-29T12:00:00.000000"},
		{`"2024-02-29T12:00:00Z"`, "!type"}, {`"2024-02-29T24:00:00"`, "2024-03-01T00:00:00.000000"}, {`"2024-02-29"`, "!type"},
	},
	KindDate:     {{`"2024-02-29"`, "2024-02-29"}, {`"2024-2-29"`, "!type"}, {`"2023-02-29"`, "!range"}, {`"2024-13-01"`, "!range"}, {`"20240229"`, "!type"}},
	KindTime:     {{`"12:30"`, "12:30:00.000000"}, {`"23:59:59.999999"`, "23:59:59.999999"}, {`"24:00:00"`, "24:00:00.000000"}, {`"24:00:01"`, "!range"}, {`"12:30:60"`, "!range"}, {`"12:30Z"`, "!type"}},
	KindInterval: intervalCases,
	KindBytea: {
		{`"aGk="`, `\x6869`}, {`"aGk"`, `\x6869`}, {`""`, `\x`}, {`"aGl="`, "!type"}, {`"a"`, "!type"}, {`"aG k"`, "!type"}, {`"aGk\n"`, "!type"}, {`"aGk=="`, "!type"}, {`"_-8="`, "!type"}, {`"/+8="`, `\xffef`},
	},
	KindJSON: {
		{`{"b":1.50, "a":[true,null]}`, `{"b":1.50, "a":[true,null]}`}, {`"x"`, `"x"`}, {`0`, `0`}, {`false`, `false`}, {`[]`, `[]`}, {`{}`, `{}`},
		{`["a\u0000"]`, "!nul"}, {`{"\u0000":1}`, "!nul"}, {`[1e1000000]`, "!range"},
	},
}

var intervalCases = [][2]string{
	{`"P1Y2M3DT4H5M6.5S"`, "P14M3DT4H5M6.5S"}, {`"PT90M"`, "PT1H30M"}, {`"PT1.5H"`, "PT1H30M"}, {`"P1W"`, "P7D"}, {`"PT0S"`, "PT0S"}, {`"P0D"`, "PT0S"},
	{`"-P1DT1H"`, "P-1DT-1H"}, {`"P-1DT1H"`, "P-1DT1H"}, {`"PT-0.000001S"`, "PT-0.000001S"}, {`"PT1H-1M"`, "PT59M"}, {`"PT0,5S"`, "PT0.5S"}, {`"PT36H"`, "PT36H"},
	{`"P0.5D"`, "!type"}, {`"P"`, "!type"}, {`"PT"`, "!type"}, {`"P1DT"`, "!type"}, {`"1D"`, "!type"}, {`"P1D2Y"`, "!type"}, {`"P1D1D"`, "!type"}, {`"PD"`, "!type"}, {`"PT1e2S"`, "!type"},
	{`"PT0.0000001S"`, "!precision"}, {`"P99999999999Y"`, "!range"}, {`"P2147483647M"`, "P2147483647M"}, {`"P2147483648M"`, "!range"}, {`"PT99999999999999H"`, "!range"}, {`"1 day"`, "!type"},
}

func TestDecode_kinds(t *testing.T) {
	for kind, cases := range kindCases {
		d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: kind}))
		for _, c := range cases {
			t.Run(kind.String()+" "+quoteShort(c[0]), func(t *testing.T) {
				values, err := d.decode(bodyOf(`{"v":` + c[0] + `}`))
				if code, refused := strings.CutPrefix(c[1], "!"); refused {
					wantError(t, err, 422, "input-invalid", "/v")
					if err.Fields[0].Code != code {
						t.Errorf("code %s, want %s", err.Fields[0].Code, code)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := textOf(values[0]); got != c[1] {
					t.Errorf("got %q, want %q", got, c[1])
				}
			})
		}
	}
}

// Every canonical text is its own canonical form, in both readers.
func TestDecode_canonicalIsStable(t *testing.T) {
	for kind, cases := range kindCases {
		for _, c := range cases {
			if strings.HasPrefix(c[1], "!") {
				continue
			}
			again, fault := canonText(kind, c[1], true)
			if fault != nil || again != c[1] {
				t.Errorf("%s %q became %q (%v)", kind, c[1], again, fault)
			}
		}
	}
}

func TestDecode_arrays(t *testing.T) {
	cases := []struct {
		kind       Kind
		json, want string
	}{
		{KindInt4, `[1, null, 1e1]`, `{1,NULL,10}`},
		{KindInt4, `[]`, `{}`},
		{KindText, `["", "a b", "null", "NULL", "x\"y\\z", "{}", "a,b", "ü", "c"]`, `{"","a b","null","NULL","x\"y\\z","{}","a,b",ü,c}`},
		{KindBool, `[true,false]`, `{true,false}`},
		{KindBytea, `["aGk="]`, `{"\\x6869"}`},
		{KindJSON, `[{"a":1}, [2], "x", null]`, `{"{\"a\":1}",[2],"\"x\"",NULL}`},
		{KindNumeric, `[1.50,"2"]`, `{1.50,2}`},
	}
	for _, c := range cases {
		d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: c.kind, Array: true}))
		if got := decodeTest(t, d, bodyOf(`{"v":`+c.json+`}`))[0].Text; got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.kind, c.json, got, c.want)
		}
	}
}

// Where a Go function takes an array, a null element is the client's mistake.
func TestDecode_arraysWithoutNulls(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromBody, Name: "a", Kind: KindInt4, Array: true, NoNulls: true}))
	_, err := d.decode(bodyOf(`{"a":[1,null,2,null]}`))
	wantError(t, err, 422, "input-invalid", "/a/1", "/a/3")
	if _, err := d.decode(bodyOf(`{"a":[1,2]}`)); err != nil {
		t.Error(err)
	}
}

func TestDecode_arrayFaults(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "a", Kind: KindInt4, Array: true},
		Field{From: FromBody, Name: "b", Kind: KindInt4, Array: true},
	))
	_, err := d.decode(bodyOf(`{"b":[1,"x",[2]],"a":5}`))
	wantError(t, err, 422, "input-invalid", "/b/1", "/b/2", "/a")
}

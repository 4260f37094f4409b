package idem

import "testing"

func queryDecoder(t *testing.T, fields ...Field) *decoder {
	for i := range fields {
		fields[i].From = FromQuery
	}
	return compileTest(t, decodeOp(fields...))
}

func TestDecode_query(t *testing.T) {
	d := queryDecoder(t, Field{Name: "q", Kind: KindText}, Field{Name: "n", Kind: KindInt8}, Field{Name: "tag", Kind: KindText, Array: true}, Field{Name: "on", Kind: KindBool}, Field{Name: "doc", Kind: KindJSON})
	cases := map[string][5]string{
		"":                          {"<absent>", "<absent>", "<absent>", "<absent>", "<absent>"},
		"q=&n=1e2":                  {"", "100", "<absent>", "<absent>", "<absent>"},
		"q":                         {"", "<absent>", "<absent>", "<absent>", "<absent>"},
		"q=a+b%20c%26&&on=true":     {"a b c&", "<absent>", "<absent>", "true", "<absent>"},
		"tag=a&tag=b%2Cc&tag=&%71=": {"", "<absent>", `{a,"b,c",""}`, "<absent>", "<absent>"},
		"doc=%7B%22a%22%3A1%7D":     {"<absent>", "<absent>", "<absent>", "<absent>", `{"a":1}`},
		"doc=null":                  {"<absent>", "<absent>", "<absent>", "<absent>", "<null>"},
	}
	for raw, want := range cases {
		values := decodeTest(t, d, request{rawQuery: raw})
		for i, v := range values {
			if textOf(v) != want[i] {
				t.Errorf("%s: field %d is %q, want %q", raw, i, textOf(v), want[i])
			}
		}
	}
}

func TestDecode_queryRefused(t *testing.T) {
	d := queryDecoder(t, Field{Name: "q", Kind: KindText}, Field{Name: "n", Kind: KindInt8})
	refused := []struct {
		raw      string
		status   int
		code     string
		pointers []string
	}{
		{"q=1&q=1", 400, "query-duplicate", nil},
		{"q=%zz", 400, "query-malformed", nil},
		{"%=1", 400, "query-malformed", nil},
		{"q=%ff", 400, "query-malformed", nil},
		{"dry_run=true&x=1", 400, "query-unknown", []string{"query:dry_run", "query:x"}},
		{"n=", 422, "input-invalid", []string{"query:n"}},
		{"n=abc&q=%00", 422, "input-invalid", []string{"query:q", "query:n"}},
	}
	for _, c := range refused {
		t.Run(c.raw, func(t *testing.T) {
			_, err := d.decode(request{rawQuery: c.raw})
			wantError(t, err, c.status, c.code, c.pointers...)
		})
	}
}

func TestDecode_header(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromHeader, Name: "If-Version", Kind: KindInt8}, Field{From: FromHeader, Name: "X-Tags", Kind: KindText, Array: true}))
	values := decodeTest(t, d, request{header: headerOf("If-Version", "7", "X-Tags", "a, b", "X-Tags", "c", "Other", "\xff")})
	if values[0].Text != "7" || values[1].Text != "{a,b,c}" {
		t.Errorf("got %+v", values)
	}
	_, err := d.decode(request{header: headerOf("If-Version", "7", "If-Version", "7")})
	wantError(t, err, 400, "header-duplicate")
	_, err = d.decode(request{header: headerOf("X-Tags", "\xff")})
	wantError(t, err, 400, "header-malformed")
	_, err = d.decode(request{header: headerOf("If-Version", "v7")})
	wantError(t, err, 422, "input-invalid", "header:If-Version")
}

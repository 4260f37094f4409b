package idem

import (
	"strings"
	"testing"
)

func TestDecode_malformedBody(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: KindJSON}, Field{From: FromBody, Name: "s", Kind: KindText}))
	deep := `{"v":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`
	bodies := []string{
		`{`, `{"v"`, `{"v":`, `{"v":1`, `{"v":1,}`, `{"v" 1}`, `{v:1}`, `{'v':1}`, `[`, `nul`, `{"v":tru}`, `{"v":1} x`, `{"v":1}{}`, `{"v":[1,]}`, `{"v":[1 2]}`,
		`{"v":01}`, `{"v":+1}`, `{"v":.5}`, `{"v":1.}`, `{"v":1e}`, `{"v":-}`, `{"v":NaN}`, `{"v":0x1}`, "{\"s\":\"a\nb\"}", `{"s":"\x"}`, `{"s":"\u12"}`, `{"s":"\u12g4"}`,
		`{"s":"\ud800"}`, `{"s":"\udc00\ud800"}`, `{"s":"\ud800x"}`, `{"s":"\ud800\u0041"}`, "{\"s\":\"\xff\"}", "{\"s\":\"\\n\xff\"}", "{\"\xff\":1}", "\xef\xbb\xbf{}", `{"s":"abc`, `{"s":"abc\`, `{"v":"\ud83d`,
		`[]`, `1`, `"x"`, `null`, `// c`, `{/**/}`, deep, "{\"v\":\x00}",
	}
	for _, body := range bodies {
		if _, err := d.decode(bodyOf(body)); err == nil || err.Status != 400 || err.Code != "body-malformed" {
			t.Errorf("%.40q: got %v", body, err)
		}
	}
}

func TestDecode_deepButAllowed(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: KindJSON}))
	decodeTest(t, d, bodyOf(`{"v":`+strings.Repeat("[", maxDepth-1)+strings.Repeat("]", maxDepth-1)+`}`))
}

func TestDecode_duplicateMembers(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: KindJSON}, Field{From: FromBody, Name: "c.name", Kind: KindText}))
	var many strings.Builder
	for i := range 40 {
		many.WriteString(`"` + strings.Repeat("k", i+1) + `":1,`)
	}
	for _, body := range []string{
		`{"v":1,"v":1}`, `{"v":1,"\u0076":2}`, `{"v":{"a":1,"a":1}}`, `{"v":[{"a":{"b":1,"b":2}}]}`, `{"c":{"name":"x","name":"x"}}`,
		`{"c":{"name":"x"},"c":{}}`, `{"v":{` + many.String() + `"kk":1}}`, `{"v":{` + many.String() + strings.TrimSuffix(many.String(), ",") + `}}`,
	} {
		_, err := d.decode(bodyOf(body))
		wantError(t, err, 400, "member-duplicate")
	}
	decodeTest(t, d, bodyOf(`{"v":[{"a":1},{"a":{"a":1}}],"c":{"name":"v"}}`)) // the same name in other objects
}

func TestDecode_unknownMembers(t *testing.T) {
	op := decodeOp(Field{From: FromBody, Name: "c.name", Kind: KindText}, Field{From: FromBody, Name: "items", Kind: KindRecord, List: true, Elem: []Field{{Name: "sku", Kind: KindInt8}}})
	body := `{"x":{"y":1},"c":{"a/b~":2,"name":"n"},"items":[{"sku":1},{"qty":3}]}`
	_, err := compileTest(t, op).decode(bodyOf(body))
	wantError(t, err, 400, "member-unknown", "/x", "/c/a~1b~0", "/items/1/qty")

	ignoring, compileErr := compileFields(op, true)
	if compileErr != nil {
		t.Fatal(compileErr)
	}
	values := decodeTest(t, ignoring, bodyOf(body))
	if values[0].Text != "n" || values[1].Text != `[{"sku":1},{}]` {
		t.Errorf("got %q %q", values[0].Text, values[1].Text)
	}
	_, err = ignoring.decode(bodyOf(`{"x":{"y":1,"y":2}}`))
	wantError(t, err, 400, "member-duplicate")
}

// A body that can't be read wins over values of a wrong type; all of those
// are reported together.
func TestDecode_typeFaultsTogether(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromPath, Name: "id", Kind: KindInt8},
		Field{From: FromQuery, Name: "limit", Kind: KindInt4},
		Field{From: FromHeader, Name: "X-At", Kind: KindTimestamptz},
		Field{From: FromBody, Name: "a", Kind: KindInt4},
		Field{From: FromBody, Name: "c.name", Kind: KindText},
	))
	r := request{
		path: func(string) string { return "abc" }, rawQuery: "limit=x", header: headerOf("X-At", "now"),
		body: []byte(`{"a":"1","c":{"name":1}}`),
	}
	_, err := d.decode(r)
	wantError(t, err, 422, "input-invalid", "path:id", "query:limit", "header:X-At", "/a", "/c/name")
	r.body = []byte(`{"a":"1","c":{"name":1}`)
	_, err = d.decode(r)
	wantError(t, err, 400, "body-malformed")
}

func TestDecode_faultsAreBounded(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: KindInt4, Array: true}))
	_, err := d.decode(bodyOf(`{"v":[` + strings.Repeat(`"x",`, 5000) + `1]}`))
	if err == nil || err.Status != 422 || len(err.Fields) != maxFieldErrors {
		t.Errorf("got %v", err)
	}
}

func TestDecode_emptyBody(t *testing.T) {
	optional := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: KindInt4, Nullable: true}))
	for _, body := range []string{"", " \n", "{}", `{"v":null}`} {
		if v := decodeTest(t, optional, bodyOf(body))[0]; v.Set && !v.Null {
			t.Errorf("%q: got %+v", body, v)
		}
	}
	required := compileTest(t, decodeOp(Field{From: FromBody, Name: "v", Kind: KindInt4, Required: true}))
	_, err := required.decode(bodyOf(" "))
	wantError(t, err, 400, "body-missing")
	wantError(t, required.check(decodeTest(t, required, bodyOf("{}"))), 422, "input-invalid", "/v")
}

func TestDecode_nested(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "customer.name", Kind: KindText, Required: true},
		Field{From: FromBody, Name: "customer.address.city", Kind: KindText, Nullable: true},
		Field{From: FromBody, Name: "note", Kind: KindText, Nullable: true},
	))
	values := decodeTest(t, d, bodyOf(`{"customer":{"address":{"city":"Bern"},"name":"N"},"note":null}`))
	if values[0].Text != "N" || values[1].Text != "Bern" || !values[2].Null {
		t.Errorf("got %+v", values)
	}
	for _, body := range []string{`{"customer":null}`, `{"customer":{"address":null}}`} {
		wantError(t, d.check(decodeTest(t, d, bodyOf(body))), 422, "input-invalid", "/customer/name")
	}
	_, err := d.decode(bodyOf(`{"customer":5}`))
	wantError(t, err, 422, "input-invalid", "/customer")
}

func TestDecode_wholeBody(t *testing.T) {
	whole := func(f Field) *decoder {
		f.From, f.Name = FromBody, "body"
		return compileTest(t, &Operation{Name: "Test", BodyWhole: true, Fields: []Field{f}})
	}
	document := whole(Field{Kind: KindJSON, Required: true})
	if got := decodeTest(t, document, bodyOf(" [1, {\"a\":2}] "))[0].Text; got != `[1, {"a":2}]` {
		t.Errorf("got %s", got)
	}
	if v := decodeTest(t, document, bodyOf("null"))[0]; !v.Null {
		t.Errorf("null is %+v", v)
	}
	_, err := document.decode(bodyOf("[1] 2"))
	wantError(t, err, 400, "body-malformed")
	_, err = document.decode(bodyOf(`["\u0000"]`))
	wantError(t, err, 422, "input-invalid", "")

	raw := whole(Field{Kind: KindBytea, Required: true})
	if got := decodeTest(t, raw, bodyOf("\x00\xff"))[0].Text; got != `\x00ff` {
		t.Errorf("got %s", got)
	}
	if got := textOf(decodeTest(t, raw, bodyOf(""))[0]); got != `\x` {
		t.Errorf("got %s", got)
	}
	list := whole(Field{Kind: KindRecord, List: true, Elem: []Field{{Name: "sku", Kind: KindInt8}}})
	if v := decodeTest(t, list, bodyOf(`[{"sku":1},{"sku":2}]`))[0]; len(v.Elems) != 2 {
		t.Errorf("got %+v", v)
	}
	_, err = list.decode(bodyOf(`[{"sku":"x"}]`))
	wantError(t, err, 422, "input-invalid", "/0/sku")
}

func TestDecode_records(t *testing.T) {
	d := compileTest(t, decodeOp(Field{From: FromBody, Name: "items", Kind: KindRecord, List: true, Required: true, Elem: []Field{
		{Name: "sku", Kind: KindInt8, Required: true}, {Name: "price", Kind: KindNumeric, Nullable: true}, {Name: "qty", Kind: KindInt4, Default: ptr("1")},
		{Name: "tags", Kind: KindText, Array: true, Nullable: true}, {Name: "meta", Kind: KindJSON, Nullable: true}, {Name: "ok", Kind: KindBool, Nullable: true},
		{Name: "sub", Kind: KindRecord, Nullable: true, Elem: []Field{{Name: "at", Kind: KindDate}}},
	}}))
	values := decodeTest(t, d, bodyOf(`{"items":[{"qty":2e0,"sku":"7","price":1.50,"tags":["a",null,"b\"c"],"meta":{"x": 1},"ok":true,"sub":{"at":"2024-01-31"}},{"sku":8,"price":null}]}`))
	want := `[{"sku":7,"price":"1.50","qty":2,"tags":"{a,NULL,\"b\\\"c\"}","meta":{"x": 1},"ok":true,"sub":{"at":"2024-01-31"}},{"sku":8,"qty":1}]`
	if values[0].Text != want {
		t.Errorf("got  %s\nwant %s", values[0].Text, want)
	}
	elems := values[0].Elems
	if len(elems) != 2 || elems[0][0].Text != "7" || elems[0][3].Text != `{a,NULL,"b\"c"}` || !elems[1][1].Null || elems[1][2].Text != "1" {
		t.Errorf("elements %+v", elems)
	}
	_, err := d.decode(bodyOf(`{"items":[{"sku":1},{"sku":true,"qty":"2"},null,5]}`))
	wantError(t, err, 422, "input-invalid", "/items/1/sku", "/items/1/qty", "/items/2", "/items/3")
	wantError(t, d.check(decodeTest(t, d, bodyOf(`{"items":[{"sku":1},{"qty":null}]}`))), 422, "input-invalid", "/items/1/sku", "/items/1/qty")
	if got := decodeTest(t, d, bodyOf(`{"items":[]}`))[0]; got.Text != "[]" || got.Elems == nil {
		t.Errorf("empty list: %+v", got)
	}
}

// Null, an empty list, false, zero and the empty text are values like others.
func TestCase_replay_5_inputs(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "n", Kind: KindText, Nullable: true, Required: true},
		Field{From: FromBody, Name: "l", Kind: KindInt4, Array: true, Required: true},
		Field{From: FromBody, Name: "f", Kind: KindBool, Required: true},
		Field{From: FromBody, Name: "z", Kind: KindInt4, Required: true},
		Field{From: FromBody, Name: "e", Kind: KindText, Required: true},
		Field{From: FromBody, Name: "j", Kind: KindJSON, Required: true},
	))
	values := decodeTest(t, d, bodyOf(`{"n":null,"l":[],"f":false,"z":0,"e":"","j":false}`))
	var got []string
	for _, v := range values {
		got = append(got, textOf(v))
	}
	if strings.Join(got, "|") != "<null>|{}|false|0||false" {
		t.Errorf("got %q", got)
	}
	if err := d.check(values); err != nil {
		t.Error(err)
	}
}

func TestDecode_defaults(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "currency", Kind: KindText, Required: true, Default: ptr("EUR")},
		Field{From: FromBody, Name: "tags", Kind: KindText, Array: true, Default: ptr("{a,NULL}")},
		Field{From: FromBody, Name: "items", Kind: KindRecord, List: true, Default: ptr(`[{"n":"x"}]`), Elem: []Field{{Name: "n", Kind: KindText}}},
		Field{From: FromQuery, Name: "limit", Kind: KindInt4, Default: ptr("50")},
	))
	values := decodeTest(t, d, bodyOf(""))
	if values[0].Text != "EUR" || values[1].Text != "{a,NULL}" || values[2].Text != `[{"n":"x"}]` || values[3].Text != "50" {
		t.Errorf("got %+v", values)
	}
	if values[0].sent() {
		t.Error("a default counts as sent")
	}
	if err := d.check(values); err != nil {
		t.Error(err)
	}
	wantError(t, d.check(decodeTest(t, d, bodyOf(`{"currency":null}`))), 422, "input-invalid", "/currency")
}

func TestDecode_descriptorMistakes(t *testing.T) {
	body := func(name string, f Field) Field { f.From, f.Name = FromBody, name; return f }
	cases := map[string]*Operation{
		"name twice":          decodeOp(body("a", Field{}), body("a", Field{})),
		"below a field":       decodeOp(body("a", Field{}), body("a.b", Field{})),
		"above a field":       decodeOp(body("a.b", Field{}), body("a", Field{})),
		"record without elem": decodeOp(body("a", Field{Kind: KindRecord})),
		"elem without record": decodeOp(body("a", Field{Elem: []Field{{Name: "x"}}})),
		"record in query":     decodeOp(Field{From: FromQuery, Name: "a", Kind: KindRecord, Elem: []Field{{Name: "x"}}}),
		"bad default":         decodeOp(body("a", Field{Kind: KindInt4, Default: ptr("x")})),
		"bad kind":            decodeOp(body("a", Field{Kind: 99})),
		"bad bound":           decodeOp(body("a", Field{Kind: KindInt4, Checks: []Check{{Op: CheckMin, Value: "x"}}})),
		"bound on text":       decodeOp(body("a", Field{Checks: []Check{{Op: CheckMin, Value: "x"}}})),
		"bad pattern":         decodeOp(body("a", Field{Checks: []Check{{Op: CheckPattern, Value: "("}}})),
		"bad length":          decodeOp(body("a", Field{Checks: []Check{{Op: CheckMinLength, Value: "x"}}})),
		"whole without field": {Name: "T", BodyWhole: true},
		"whole twice":         {Name: "T", BodyWhole: true, Fields: []Field{body("a", Field{}), body("b", Field{})}},
		"unknown print name":  {Name: "T", Fields: []Field{body("a", Field{})}, Policy: Policy{Print: []string{"b"}}},
	}
	for name, op := range cases {
		if _, err := compileFields(op, false); err == nil || !strings.Contains(err.Error(), "operation") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

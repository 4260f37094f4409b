package idem

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// printOp declares one field of every part, and lists and records.
func printOp() *Operation {
	return decodeOp(
		Field{From: FromPath, Name: "id", Kind: KindInt8},
		Field{From: FromQuery, Name: "mode", Kind: KindText},
		Field{From: FromQuery, Name: "tag", Kind: KindText, Array: true},
		Field{From: FromHeader, Name: "X-Channel", Kind: KindText},
		Field{From: FromBody, Name: "amount", Kind: KindInt8},
		Field{From: FromBody, Name: "price", Kind: KindNumeric},
		Field{From: FromBody, Name: "rate", Kind: KindFloat8},
		Field{From: FromBody, Name: "at", Kind: KindTimestamptz},
		Field{From: FromBody, Name: "customer.name", Kind: KindText},
		Field{From: FromBody, Name: "meta", Kind: KindJSON},
		Field{From: FromBody, Name: "docs", Kind: KindJSON, Array: true},
		Field{From: FromBody, Name: "items", Kind: KindRecord, List: true, Elem: []Field{{Name: "sku", Kind: KindInt8}, {Name: "price", Kind: KindNumeric, Nullable: true}, {Name: "sizes", Kind: KindNumeric, Array: true, Nullable: true}}},
		Field{From: FromCaller, Name: "role", Kind: KindText},
		Field{From: FromCaller, Name: "tenant", Kind: KindText, Scope: true},
	)
}

const printBody = `{"amount":1000,"price":"1.5","rate":0.5,"at":"2024-01-01T10:00:00Z","customer":{"name":"N"},"meta":{"b":[1,2.50],"a":"x"},"docs":[{"p":1,"q":2}],"items":[{"sku":1,"price":2.50,"sizes":[1.0]},{"sku":2}]}`

func printRequest(body string) request {
	return request{
		path: func(string) string { return "7" }, rawQuery: "mode=a&tag=x&tag=y", header: headerOf("X-Channel", "web"),
		body: []byte(body), caller: []any{"admin", "t1"},
	}
}

func TestCase_print_1(t *testing.T) {
	d := compileTest(t, printOp())
	want := printTest(t, d, printRequest(printBody))
	for name, body := range map[string]string{
		"order, white space": " {\n\"items\" : [ {\"sizes\":[1],\"price\":2.5,\"sku\":1 }, {\"price\":null,\"sku\":2} ], \"meta\":{\"a\":\"x\", \"b\":[1,2.5]}, \"docs\":[{\"q\":2,\"p\":1}], \"customer\":{\"name\":\"N\"},\"at\":\"2024-01-01T11:00:00.0+01:00\",\"rate\":0.5,\"price\":\"1.5\",\"amount\":1000}",
		"number spelling":    `{"amount":1e3,"price":1.500,"rate":5e-1,"at":"2024-01-01T10:00:00.000Z","customer":{"name":"N"},"meta":{"b":[1.0,25e-1],"a":"x"},"docs":[{"p":1.0,"q":2}],"items":[{"sku":1.0,"price":"2.5","sizes":["1"]},{"sku":2}]}`,
		"string spelling":    `{"amount":"1000","price":"01.50","rate":0.50,"at":"2024-01-01T10:00:00Z","customer":{"name":"\u004e"},"meta":{"b":[1,2.50],"\u0061":"\u0078"},"docs":[{"p":1,"q":2}],"items":[{"sku":"1","price":2.50,"sizes":[1.0]},{"sku":2}]}`,
	} {
		if got := printTest(t, d, printRequest(body)); got != want {
			t.Errorf("%s: differs in %v", name, fingerprintDiff([]byte(got), []byte(want)))
		}
	}
}

func TestCase_print_2(t *testing.T) {
	for _, body := range []string{`{"amount":%s}`, `{"price":%s}`, `{"meta":{"n":%s}}`, `{"docs":[%s]}`, `{"items":[{"sku":%s}]}`} {
		d := compileTest(t, decodeOp(slices.DeleteFunc(printOp().Fields, func(f Field) bool { return f.From != FromBody })...))
		a := d.fingerprint(decodeTest(t, d, bodyOf(fmt.Sprintf(body, "9007199254740993"))))
		b := d.fingerprint(decodeTest(t, d, bodyOf(fmt.Sprintf(body, "9007199254740992"))))
		if got := fingerprintDiff(a, b); !slices.Equal(got, []string{"body"}) {
			t.Errorf("%s: differs in %v", body, got)
		}
	}
}

func TestCase_print_3(t *testing.T) {
	d := compileTest(t, printOp())
	a := printTest(t, d, printRequest(printBody))
	r := printRequest(printBody)
	r.rawQuery = "mode=b&tag=x&tag=y"
	if got := fingerprintDiff([]byte(a), []byte(printTest(t, d, r))); !slices.Equal(got, []string{"query"}) {
		t.Errorf("differs in %v", got)
	}
	r.rawQuery = "mode=a&tag=x&tag=y&dry_run=true"
	_, err := d.decode(r)
	wantError(t, err, 400, "query-unknown", "query:dry_run")
}

func TestCase_print_4(t *testing.T) {
	d := compileTest(t, printOp())
	want := printTest(t, d, printRequest(printBody))
	edit := func(old, new string) func(*request) {
		return func(r *request) {
			if !strings.Contains(string(r.body), old) {
				t.Fatalf("the body has no %s", old)
			}
			r.body = []byte(strings.Replace(string(r.body), old, new, 1))
		}
	}
	changes := map[string]struct {
		part   string
		change func(*request)
	}{
		"id":            {"path", func(r *request) { r.path = func(string) string { return "8" } }},
		"mode":          {"query", func(r *request) { r.rawQuery = "mode=b&tag=x&tag=y" }},
		"mode absent":   {"query", func(r *request) { r.rawQuery = "tag=x&tag=y" }},
		"tag":           {"query", func(r *request) { r.rawQuery = "mode=a&tag=x%2Cy" }},
		"tag order":     {"query", func(r *request) { r.rawQuery = "mode=a&tag=y&tag=x" }},
		"X-Channel":     {"headers", func(r *request) { r.header = headerOf("X-Channel", "app") }},
		"role":          {"headers", func(r *request) { r.caller = []any{"user", "t1"} }},
		"amount":        {"body", edit("1000", "1001")},
		"price":         {"body", edit(`"1.5"`, `"1.51"`)},
		"rate":          {"body", edit("0.5", "0.25")},
		"at":            {"body", edit("10:00:00Z", "10:00:00+01:00")},
		"customer.name": {"body", edit(`"N"`, `"n"`)},
		"meta":          {"body", edit("[1,2.50]", "[2.50,1]")},
		"meta string":   {"body", edit(`"a":"x"`, `"a":"y"`)},
		"docs":          {"body", edit(`{"p":1,"q":2}`, `{"p":1},{"q":2}`)},
		"items.sku":     {"body", edit(`{"sku":2}`, `{"sku":3}`)},
		"items.sizes":   {"body", edit("[1.0]", "[1.0,1.0]")},
		"items order":   {"body", edit(`{"sku":1,"price":2.50,"sizes":[1.0]},{"sku":2}`, `{"sku":2},{"sku":1,"price":2.50,"sizes":[1.0]}`)},
		"items split":   {"body", edit(`,{"sku":2}`, ``)},
	}
	for name, c := range changes {
		r := printRequest(printBody)
		c.change(&r)
		if got := fingerprintDiff([]byte(want), []byte(printTest(t, d, r))); !slices.Equal(got, []string{c.part}) {
			t.Errorf("%s: differs in %v", name, got)
		}
	}
	r := printRequest(printBody)
	r.caller = []any{"admin", "t2"}
	if printTest(t, d, r) != want {
		t.Error("the scope is part of the fingerprint")
	}
}

func TestFingerprint_absentAndNull(t *testing.T) {
	field := Field{From: FromBody, Name: "note", Kind: KindText, Nullable: true}
	d := compileTest(t, decodeOp(field))
	if printTest(t, d, bodyOf(`{}`)) != printTest(t, d, bodyOf(`{"note":null}`)) {
		t.Error("absent and null differ without has()")
	}
	op := decodeOp(field)
	op.Steps = []Step{{Args: []Arg{{From: ArgField}, {From: ArgHas, Field: 0}}}}
	d = compileTest(t, op)
	if printTest(t, d, bodyOf(`{}`)) == printTest(t, d, bodyOf(`{"note":null}`)) {
		t.Error("absent and null are the same with has()")
	}
}

// A deploy may add an optional field or a default, and change the default:
// retries of requests from before still match.
func TestFingerprint_survivesNewOptionalFields(t *testing.T) {
	amount := Field{From: FromBody, Name: "amount", Kind: KindInt8}
	want := printTest(t, compileTest(t, decodeOp(amount)), bodyOf(`{"amount":1}`))
	for _, added := range []Field{
		{From: FromBody, Name: "aaa", Kind: KindText, Nullable: true},
		{From: FromBody, Name: "currency", Kind: KindText, Default: ptr("EUR")},
		{From: FromQuery, Name: "mode", Kind: KindText, Default: ptr("x")},
	} {
		if got := printTest(t, compileTest(t, decodeOp(added, amount)), bodyOf(`{"amount":1}`)); got != want {
			t.Errorf("%s changes the fingerprint", added.Name)
		}
	}
	amount.Kind = KindNumeric
	if got := printTest(t, compileTest(t, decodeOp(amount)), bodyOf(`{"amount":1.0}`)); got != want {
		t.Error("the type is part of the fingerprint")
	}
}

// Names and values must not run together.
func TestFingerprint_noCollisions(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "a", Kind: KindText}, Field{From: FromBody, Name: "ab", Kind: KindText},
		Field{From: FromHeader, Name: "Role", Kind: KindText, Nullable: true}, Field{From: FromCaller, Name: "role", Kind: KindText, Nullable: true},
	))
	seen := map[string]string{}
	for _, body := range []string{`{"a":"bx"}`, `{"ab":"x"}`, `{"a":"b","ab":"x"}`, `{"a":"","ab":"bx"}`, `{"a":""}`, `{}`, `{"a":"\u0001"}`} {
		r := bodyOf(body)
		r.caller = []any{nil}
		sum := printTest(t, d, r)
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have one fingerprint", body, other)
		}
		seen[sum] = body
	}
	inHeader := printTest(t, d, request{header: headerOf("Role", "x"), caller: []any{nil}})
	byCaller := printTest(t, d, request{caller: []any{"x"}})
	if inHeader == byCaller {
		t.Error("a header and a caller value have one fingerprint")
	}
}

func TestFingerprint_policy(t *testing.T) {
	fields := []Field{{From: FromBody, Name: "a", Kind: KindText}, {From: FromBody, Name: "b", Kind: KindText}, {From: FromQuery, Name: "b", Kind: KindText}}
	compile := func(names []string) *decoder {
		return compileTest(t, &Operation{Name: "T", Fields: fields, Policy: Policy{Print: names}})
	}
	only := compile([]string{"body.a"})
	if printTest(t, only, bodyOf(`{"a":"1","b":"1"}`)) != printTest(t, only, request{body: []byte(`{"a":"1","b":"2"}`), rawQuery: "b=1"}) {
		t.Error("b is compared")
	}
	if printTest(t, only, bodyOf(`{"a":"1"}`)) == printTest(t, only, bodyOf(`{"a":"2"}`)) {
		t.Error("a is not compared")
	}
	none := printTest(t, compile([]string{}), bodyOf(`{"a":"1"}`))
	all := printTest(t, compile(nil), bodyOf(`{"a":"2"}`))
	if len(none) != printSize || len(all) != printSize {
		t.Errorf("sizes %d, %d", len(none), len(all))
	}
	if diff := fingerprintDiff([]byte(none), []byte(all)); diff != nil {
		t.Errorf("a record without a fingerprint differs in %v", diff)
	}
}

func TestFingerprintDiff(t *testing.T) {
	base := make([]byte, printSize)
	base[0] = printV1
	changed := func(at ...int) []byte {
		b := slices.Clone(base)
		for _, i := range at {
			b[i]++
		}
		return b
	}
	for want, other := range map[string][]byte{
		"": base, "path": changed(1), "query": changed(16), "headers": changed(17), "body": changed(32), "path body": changed(3, 30),
	} {
		if got := strings.Join(fingerprintDiff(base, other), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, other := range [][]byte{nil, {1}, changed(0, 5), append(changed(5), 0)} {
		if got := fingerprintDiff(base, other); got != nil {
			t.Errorf("%v: got %v", other, got)
		}
	}
}

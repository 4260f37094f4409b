package idem

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// everyField are inputs of all kinds, scalar and as arrays.
func everyField() []Field {
	fields := []Field{
		{From: FromPath, Name: "id", Kind: KindText, Required: true},
		{From: FromQuery, Name: "q", Kind: KindInt8},
		{From: FromHeader, Name: "X-Mode", Kind: KindText, Nullable: true},
		{From: FromBody, Name: "order.name", Kind: KindText, Nullable: true},
		{From: FromBody, Name: "absent", Kind: KindText, Nullable: true},
		{From: FromBody, Name: "note", Kind: KindText, Nullable: true},
		{From: FromBody, Name: "lines", Kind: KindRecord, List: true, Elem: []Field{
			{Name: "sku", Kind: KindText, Required: true}, {Name: "qty", Kind: KindNumeric, Nullable: true},
			{Name: "tags", Kind: KindText, Array: true, Nullable: true}}},
		{From: FromBody, Name: "none", Kind: KindRecord, List: true, Elem: []Field{{Name: "sku", Kind: KindText}}},
		{From: FromBody, Name: "box", Kind: KindRecord, Elem: []Field{{Name: "size", Kind: KindInt4, Required: true}}},
		{From: FromBody, Name: "sure", Kind: KindBool, Default: ptr("true")},
		{From: FromCaller, Name: "tenant_id", Kind: KindText, Required: true, Scope: true},
	}
	for name, kind := range kindsByName {
		fields = append(fields, Field{From: FromBody, Name: name, Kind: kind, Required: true},
			Field{From: FromBody, Name: name + "s", Kind: kind, Array: true, Required: true})
	}
	return fields
}

var kindsByName = map[string]Kind{
	"int2": KindInt2, "int4": KindInt4, "int8": KindInt8, "numeric": KindNumeric, "float4": KindFloat4, "float8": KindFloat8, "uuid": KindUUID,
	"timestamptz": KindTimestamptz, "timestamp": KindTimestamp, "date": KindDate, "time": KindTime, "interval": KindInterval,
	"bytea": KindBytea, "json": KindJSON, "bool": KindBool, "text": KindText,
}

var valueByName = map[string]string{
	"int2": `-7`, "int4": `7`, "int8": `9007199254740993`, "numeric": `"12345678901234567890.000000001"`, "float4": `1.5`, "float8": `"NaN"`,
	"uuid": `"0f8fad5b-d9cb-469f-a165-70867728950e"`, "timestamptz": `"2024-02-29T12:00:00.123456+02:00"`, "timestamp": `"2024-02-29T12:00:00"`,
	"date": `"2024-02-29"`, "time": `"12:34:56.7"`, "interval": `"P1Y2M3DT4H"`, "bytea": `"AP8="`, "json": `{"b": [1.0, "\u0000x"], "a": null}`,
	"bool": `false`, "text": `"ü \" \\ {} , null"`,
}

// What a row keeps of a request is the request: its parameters, and what has()
// says, are the same for who continues it.
func TestStoredInputIsTheRequest(t *testing.T) {
	op := &operation{Operation: &Operation{Name: "Op", Fields: everyField()}, makes: []ArgFrom{ArgNow, ArgUUID4, ArgUUID7}}
	var err error
	if op.decoder, err = compileFields(op.Operation, false); err != nil {
		t.Fatal(err)
	}
	callers, err := compileFields(&Operation{Fields: []Field{{From: FromCaller, Name: "tenant_id", Required: true}, {From: FromCaller, Name: "role", Nullable: true}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"order": {"name": "n"}, "note": null, "none": [], "box": {"size": 3},
		"lines": [{"sku": "a\"b", "qty": "1.50", "tags": ["x", null, "y,z"]}, {"sku": "c", "qty": null}]`
	for name, value := range valueByName {
		if name == "json" { // an array of documents
			body += `, "` + name + `": ` + strings.ReplaceAll(value, `\u0000`, "") + `, "` + name + `s": [` + strings.ReplaceAll(value, `\u0000`, "") + `, null]`
			continue
		}
		body += `, "` + name + `": ` + value + `, "` + name + `s": [` + value + `, null]`
	}
	values, refused := op.decoder.decode(request{
		path: func(string) string { return "a/b" }, rawQuery: "q=5", header: http.Header{}, body: []byte(body + "}"), caller: []any{"t1"},
	})
	if refused != nil {
		t.Fatalf("%v %+v", refused, refused.Fields)
	}
	first := &invocation{op: op, values: values, caller: []Value{textValue("t1"), nullValue()}, client: `a"key`}
	text := first.storedText(callers)
	if !json.Valid(text) {
		t.Fatalf("%s", text)
	}
	second := &invocation{op: op}
	if err := second.restore(text, callers); err != nil {
		t.Fatal(err)
	}
	for i, f := range op.decoder.fields {
		a, b := first.values[i], second.values[i]
		if string(paramOf(a)) != string(paramOf(b)) || (paramOf(a) == nil) != (paramOf(b) == nil) || a.Set != b.Set || a.Null != b.Null {
			t.Errorf("%s: %+v, restored %+v", f.Name, a, b)
		}
		if !reflect.DeepEqual(params(a.Elems), params(b.Elems)) {
			t.Errorf("%s: %v, restored %v", f.Name, params(a.Elems), params(b.Elems))
		}
	}
	if second.caller[0].Text != "t1" || !second.caller[1].Null || second.client != first.client {
		t.Errorf("%+v", second)
	}
	for _, from := range op.makes {
		if a, b := first.once(from), second.once(from); a != b || a == "" {
			t.Errorf("made: %s, %s", a, b)
		}
	}
}

// params are the parameters of the elements of a list.
func params(elems [][]Value) (all [][]string) {
	for _, elem := range elems {
		var one []string
		for _, v := range elem {
			one = append(one, string(paramOf(v)))
		}
		all = append(all, one)
	}
	return all
}

// Texts that are no JSON of jsonb's keep their bytes through a row.
func TestStoredResultsKeepTheirBytes(t *testing.T) {
	p := progress{
		status: 202, headers: map[string]string{"Location": "/a"},
		results: []stepResult{{rows: []stepRow{{row: []byte(`{"b":1.0, "a" : null}`), columns: [][]byte{[]byte(`"x"`), nil, {}}}}}, {list: true}},
		texts:   [][][]byte{{[]byte("t"), nil, {}}, nil},
	}
	op := &operation{steps: []step{{Step: &Step{Name: "A"}, bound: true, shown: true}, {Step: &Step{Name: "B"}, bound: true, shown: true}}}
	again, err := restoreProgress(p.stored(op), op)
	if err != nil || !reflect.DeepEqual(p, again) {
		t.Errorf("%v\n%+v\n%+v", err, p, again)
	}
	op.steps[0] = step{Step: &Step{Name: "A"}}
	again, err = restoreProgress(p.stored(op), op)
	if err != nil || again.results[0].rows != nil || again.texts[0] != nil {
		t.Errorf("what nobody needs is kept: %+v %v", again, err)
	}
}

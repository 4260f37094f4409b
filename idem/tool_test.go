package idem

import (
	"net/http"
	"strings"
	"testing"
)

func toolOp() *Operation {
	op := decodeOp(
		Field{From: FromPath, Name: "id", Kind: KindInt8, Required: true},
		Field{From: FromQuery, Name: "tags", Kind: KindText, Array: true},
		Field{From: FromHeader, Name: "X-Trace", Kind: KindText},
		Field{From: FromBody, Name: "customer.name", Kind: KindText, Required: true},
		Field{From: FromBody, Name: "amount", Kind: KindInt8, Default: ptr("1")},
		Field{From: FromCaller, Name: "tenant_id", Kind: KindText, Scope: true},
	)
	op.Key = Key{From: KeyHeader, Required: true}
	op.Tool = ToolSpec{Definition: `{"name": "t", "inputSchema": {}}`, KeyArgument: true}
	return op
}

// What an agent gives is what a request brings, wherever it stands: the same values,
// and the same fingerprint, the key apart.
func TestArgumentsAreTheRequest(t *testing.T) {
	op := toolOp()
	form, err := compileTool(&Config{}, op)
	if err != nil {
		t.Fatal(err)
	}
	over := compileTest(t, op)
	arguments := decodeTest(t, form.decoder, request{caller: []any{"t1"}, body: []byte(
		`{"X-Trace": "x", "idempotency_key": "k", "id": 9007199254740993, "customer": {"name": "Ann"}, "tags": ["a", "b"]}`)})
	asked := decodeTest(t, over, request{
		path: func(string) string { return "9007199254740993" }, rawQuery: "tags=a&tags=b", header: http.Header{"X-Trace": {"x"}},
		body: []byte(`{"customer": {"name": "Ann"}}`), caller: []any{"t1"},
	})
	if got, want := string(over.fingerprint(arguments[:len(op.Fields)])), string(over.fingerprint(asked)); got != want {
		t.Errorf("the fingerprints differ: %+v, %+v", arguments, asked)
	}
	for i, v := range asked {
		if textOf(arguments[i]) != textOf(v) {
			t.Errorf("%s: %s, over HTTP %s", op.Fields[i].Name, textOf(arguments[i]), textOf(v))
		}
	}
	if arguments[form.keyAt].Text != "k" {
		t.Errorf("the key %+v", arguments[form.keyAt])
	}
}

func TestAWholeBodyIsAnArgument(t *testing.T) {
	op := decodeOp(Field{From: FromPath, Name: "id", Kind: KindText, Required: true}, Field{From: FromBody, Kind: KindJSON, Required: true})
	op.BodyWhole, op.Tool.Definition = true, `{"name": "t", "inputSchema": {}}`
	form, err := compileTool(&Config{}, op)
	if err != nil {
		t.Fatal(err)
	}
	values := decodeTest(t, form.decoder, bodyOf(`{"id": "a", "body": [1, {"b": 2}]}`))
	over := decodeTest(t, compileTest(t, op), request{path: func(string) string { return "a" }, body: []byte(`[1, {"b": 2}]`)})
	if textOf(values[1]) != textOf(over[1]) {
		t.Errorf("%s, over HTTP %s", textOf(values[1]), textOf(over[1]))
	}
}

func TestToolDefinitionsThatCantBe(t *testing.T) {
	for text, why := range map[string]string{
		`{`: "unexpected end", `{"inputSchema": {}}`: "no name", `{"name": "t"}`: "no name or no schema",
	} {
		op := toolOp()
		op.Tool.Definition = text
		if _, err := compileTool(&Config{}, op); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
	op := toolOp()
	op.Fields[1].Name = "id"
	if _, err := compileTool(&Config{}, op); err == nil {
		t.Error("two inputs are one argument")
	}
}

// Errors name arguments, wherever an input stands over HTTP.
func TestToolErrorsNameArguments(t *testing.T) {
	e := asArguments(&Error{Fields: []FieldError{{Pointer: "path:id"}, {Pointer: "query:a/b"}, {Pointer: "/customer/name"}, {Pointer: "caller:tenant_id"}}})
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Pointer)
	}
	if strings.Join(got, " ") != "/id /a~1b /customer/name caller:tenant_id" {
		t.Errorf("%v", got)
	}
}

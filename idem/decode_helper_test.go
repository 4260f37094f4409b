package idem

import (
	"net/http"
	"strings"
	"testing"
)

// decodeOp is an operation with the given fields and nothing else.
func decodeOp(fields ...Field) *Operation { return &Operation{Name: "Test", Fields: fields} }

func compileTest(t testing.TB, op *Operation) *decoder {
	t.Helper()
	d, err := compileFields(op, false)
	if err != nil {
		t.Fatalf("compileFields: %v", err)
	}
	return d
}

func bodyOf(text string) request { return request{body: []byte(text)} }

func decodeTest(t testing.TB, d *decoder, r request) []Value {
	t.Helper()
	values, err := d.decode(r)
	if err != nil {
		t.Fatalf("decode(%s?%s): %v", r.body, r.rawQuery, err)
	}
	return values
}

// printTest decodes a body and gives its fingerprint.
func printTest(t testing.TB, d *decoder, r request) string {
	t.Helper()
	return string(d.fingerprint(decodeTest(t, d, r)))
}

// wantError checks status and code, and that every field is named.
func wantError(t *testing.T, err *Error, status int, code string, pointers ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %d %s", status, code)
	}
	if err.Status != status || err.Code != code {
		t.Fatalf("got %v, want %d %s", err, status, code)
	}
	var got []string
	for _, f := range err.Fields {
		got = append(got, f.Pointer)
	}
	if strings.Join(got, " ") != strings.Join(pointers, " ") {
		t.Errorf("fields %q, want %q", got, pointers)
	}
}

func textOf(v Value) string {
	switch {
	case !v.Set:
		return "<absent>"
	case v.Null:
		return "<null>"
	default:
		return v.Text
	}
}

func headerOf(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func ptr[T any](v T) *T { return &v }

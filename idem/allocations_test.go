package idem

import "testing"

// What a request needs beside its connection is bounded in allocations: each is
// work for every request, and for the garbage collector.
func TestAllocationsOfARequestWithoutTheDatabase(t *testing.T) {
	d := compileTest(t, decodeOp(
		Field{From: FromBody, Name: "order_id", Kind: KindText, Required: true, Length: 64},
		Field{From: FromBody, Name: "amount", Kind: KindInt8, Required: true},
		Field{From: FromBody, Name: "note", Kind: KindText, Nullable: true},
		Field{From: FromCaller, Name: "tenant_id", Kind: KindText, Scope: true},
	))
	values := decodeTest(t, d, request{body: []byte(`{"order_id":"order-000123","amount":125000,"note":"second delivery"}`), caller: []any{"tenant-1"}})
	inv := &invocation{values: values, scope: "tenant-1", key: "0192f0c4-5a1e-7b3a-9c55-3f6a7d2b8e10", digest: make([]byte, 16)}
	args := []Arg{
		{From: ArgField, Field: 0}, {From: ArgField, Field: 1}, {From: ArgField, Field: 2},
		{From: ArgScope}, {From: ArgDigest}, {From: ArgKey}, {From: ArgFingerprint},
	}
	for _, one := range []struct {
		what string
		most float64
		do   func()
	}{
		{"the fingerprint: its sum", 1, func() { inv.print = d.fingerprint(values) }},
		{"the parameters: their list, and their bytes", 2, func() { binding{inv: inv}.bind(args) }},
	} {
		if n := testing.AllocsPerRun(100, one.do); n > one.most {
			t.Errorf("%s: %.0f allocations, want at most %.0f", one.what, n, one.most)
		}
	}
}

// Parameters that share their bytes don't run into each other, and an empty text is
// no NULL.
func TestBoundParametersAreApart(t *testing.T) {
	long := make([]byte, 3*bindRoom)
	for i := range long {
		long[i] = 'x'
	}
	inv := &invocation{
		values: []Value{textValue(""), nullValue(), {}, textValue(string(long)), textValue("after")},
		scope:  string(long[:bindRoom-4]), key: "key", digest: []byte{0xab, 0xcd}, print: []byte{1},
	}
	params := binding{inv: inv}.bind([]Arg{
		{From: ArgField, Field: 0}, {From: ArgField, Field: 1}, {From: ArgField, Field: 2}, {From: ArgField, Field: 3},
		{From: ArgScope}, {From: ArgDigest}, {From: ArgKey}, {From: ArgField, Field: 4}, {From: ArgFingerprint},
	})
	want := [][]byte{{}, nil, nil, long, long[:bindRoom-4], []byte(`\xabcd`), []byte("key"), []byte("after"), []byte(`\x01`)}
	for i, p := range params {
		if string(p) != string(want[i]) || (p == nil) != (want[i] == nil) {
			t.Errorf("parameter %d is %q, want %q", i, p, want[i])
		}
		if cap(p) > len(p) {
			_ = append(p, "overrun"...)
		}
	}
	for i, p := range params {
		if string(p) != string(want[i]) {
			t.Errorf("parameter %d became %q, want %q", i, p, want[i])
		}
	}
}

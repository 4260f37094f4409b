package idem

import "testing"

func benchDecoder(b *testing.B) *decoder {
	return compileTest(b, decodeOp(
		Field{From: FromBody, Name: "order_id", Kind: KindText, Required: true, Length: 64},
		Field{From: FromBody, Name: "amount", Kind: KindInt8, Required: true, Checks: []Check{{Op: CheckExclusiveMin, Value: "0"}}},
		Field{From: FromBody, Name: "currency", Kind: KindText, Required: true, Length: 3},
		Field{From: FromBody, Name: "note", Kind: KindText, Nullable: true},
		Field{From: FromCaller, Name: "tenant_id", Kind: KindText, Scope: true},
	))
}

// BenchmarkDecode is all that a request costs before the claim: decode, check, fingerprint.
func BenchmarkDecode(b *testing.B) {
	d := benchDecoder(b)
	r := request{body: []byte(`{"order_id":"order-000123","amount":125000,"currency":"EUR","note":"second delivery"}`), caller: []any{"tenant-1"}}
	b.ReportAllocs()
	b.SetBytes(int64(len(r.body)))
	for b.Loop() {
		values, err := d.decode(r)
		if err == nil {
			err = d.check(values)
		}
		if err != nil {
			b.Fatal(err)
		}
		d.fingerprint(values)
	}
}

func BenchmarkDecodeItems(b *testing.B) {
	d := compileTest(b, printOp())
	r := printRequest(printBody)
	b.ReportAllocs()
	for b.Loop() {
		values, err := d.decode(r)
		if err != nil {
			b.Fatal(err)
		}
		d.fingerprint(values)
	}
}

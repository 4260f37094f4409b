package idem

import (
	"encoding/json"
	"testing"
)

// FuzzDecode: no body panics; what is accepted is JSON, and its values are
// canonical: they give the same fingerprint again.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{printBody, `{}`, ``, `{"amount":1e400}`, `{"meta":{"\ud83d\ude00":[[[]]]}}`, `{"items":[{"sku":"1"}],"docs":[null,{}]}`, `{"at":"2024-02-29T23:59:60Z"}`, "{\"a\":\"\\"} {
		f.Add([]byte(body), "mode=a&tag=%20&tag=+")
	}
	d, err := compileFields(printOp(), true)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, query string) {
		r := printRequest(string(body))
		r.rawQuery = query
		values, err := d.decode(r)
		if err != nil {
			if err.Status != 400 && err.Status != 422 {
				t.Fatalf("%v", err)
			}
			return
		}
		if !json.Valid(body) && len(body) > 0 && !blank(body) {
			t.Fatalf("accepted %q", body)
		}
		sum := d.fingerprint(values)
		for i, v := range values {
			if field := d.fields[i]; v.Set && !v.Null && !field.Array && field.Kind != KindRecord {
				again, fault := canonText(field.Kind, v.Text, true)
				if fault != nil || again != v.Text {
					t.Fatalf("%s %q became %q (%v)", field.Kind, v.Text, again, fault)
				}
			}
		}
		_ = d.check(values)
		if diff := fingerprintDiff(sum, d.fingerprint(values)); diff != nil {
			t.Fatalf("fingerprint differs in %v", diff)
		}
	})
}

func blank(body []byte) bool {
	s := &jsonScanner{data: body}
	return s.end() == nil
}

// FuzzCanon: every text of every kind is refused or brought to a form that
// stays as it is.
func FuzzCanon(f *testing.F) {
	for kind, cases := range kindCases {
		for _, c := range cases {
			f.Add(uint8(kind), c[1])
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		k := Kind(kind)
		if !k.valid() || k == KindRecord {
			return
		}
		for _, lenient := range []bool{false, true} {
			once, fault := canonText(k, text, lenient)
			if fault != nil {
				continue
			}
			twice, fault := canonText(k, once, true)
			if fault != nil || twice != once {
				t.Fatalf("%s %q became %q, then %q (%v)", k, text, once, twice, fault)
			}
			if printText(k, printText(k, once)) != printText(k, once) {
				t.Fatalf("%s %q: the printed form is not stable", k, once)
			}
		}
	})
}

// FuzzScanOutput: no response body panics.
func FuzzScanOutput(f *testing.F) {
	f.Add([]byte(`{"order":{"id":1},"lines":[{"sku":1,"meta":{"tags":["a"]}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = scanOutput(body, (&outputOrder{}).columns())
	})
}

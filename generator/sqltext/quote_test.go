package sqltext

import "testing"

func TestQuoteIdent(t *testing.T) {
	for in, want := range map[string]string{
		"order_id": "order_id", "select": `"select"`, "name": "name", "Order": `"Order"`, `a"b`: `"a""b"`,
		"": `""`, "é": `"é"`, "1a": `"1a"`, "customer.name": `"customer.name"`, "int": `"int"`,
	} {
		if got := QuoteIdent(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestQuoteLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"it's gone": "'it''s gone'", `a\'b`: `E'a\\''b'`, "": "''", "a\x00": "'a\uFFFD'", "$1": "'$1'",
	} {
		if got := QuoteLiteral(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// FuzzParse: any text gives an *Error inside the text, or parts inside it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{benchSQL, "SELECT 'é", "UPDATE t SET a = 1 WHERE $1", "WITH a AS (SELECT 1) TABLE a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := Parse(sql)
		if err != nil {
			if e := err.(*Error); e.Offset < 0 || e.Offset > len(sql) {
				t.Fatalf("offset %d of %d", e.Offset, len(sql))
			}
			return
		}
		partsOf(s) // panics if a span is outside the text
	})
}

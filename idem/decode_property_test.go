package idem

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawNumber gives two spellings of one number, each valid JSON.
func drawNumber(t *rapid.T, label string) (a, b string, value *big.Rat) {
	n := rapid.Int64().Draw(t, label)
	scale := rapid.IntRange(-5, 20).Draw(t, label+" scale")
	a = fmt.Sprintf("%de%d", n, -scale)
	d, _, _ := parseDecimal(a)
	b = d.text()
	if strings.Contains(b, ".") {
		b += strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, label+" zeros"))
	}
	value, _ = new(big.Rat).SetString(a)
	return a, b, value
}

func TestNumber_spellingsHaveOneCanonicalText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, value := drawNumber(t, "n")
		ta, faultA := canonNumeric(a)
		tb, faultB := canonNumeric(b)
		if faultA != nil || faultB != nil {
			t.Fatalf("%s, %s: %v, %v", a, b, faultA, faultB)
		}
		if printText(KindNumeric, ta) != printText(KindNumeric, tb) {
			t.Fatalf("%s is %s, %s is %s", a, ta, b, tb)
		}
		for _, text := range []string{ta, tb} {
			if got, ok := new(big.Rat).SetString(text); !ok || got.Cmp(value) != 0 || strings.ContainsAny(text, "eE") {
				t.Fatalf("%s became %s", a, text)
			}
		}
	})
}

func TestNumber_compareAsRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _, va := drawNumber(t, "a")
		b, _, vb := drawNumber(t, "b")
		if got := compareNumbers(a, b); got != va.Cmp(vb) {
			t.Fatalf("%s against %s: %d", a, b, got)
		}
	})
}

func TestNumber_integersExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _, value := drawNumber(t, "n")
		got, fault := canonInteger(KindInt8, text)
		if fits := value.IsInt() && value.Num().IsInt64(); fits != (fault == nil) {
			t.Fatalf("%s: fits %v, fault %v", text, fits, fault)
		} else if fits && got != value.Num().String() {
			t.Fatalf("%s became %s", text, got)
		}
	})
}

// A document with its members shuffled and other white space is the same;
// with any one scalar changed it is another.
func TestCanonJSON_shuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		document := drawDocument(t, 3, &n)
		want := canonJSON(document.write(nil, 0, -1))
		if got := canonJSON(document.write(t, 0, -1)); got != want {
			t.Fatalf("%s\nagainst %s", got, want)
		}
		if !json.Valid([]byte(want)) || canonJSON(want) != want {
			t.Fatalf("%s is not canonical", want)
		}
		change := rapid.IntRange(0, max(n-1, 0)).Draw(t, "change")
		if n > 0 && canonJSON(document.write(nil, 0, change)) == want {
			t.Fatalf("scalar %d changed, but not %s", change, want)
		}
	})
}

// doc is a JSON value: a scalar with its number, or an array or object.
type doc struct {
	scalar string
	id     int
	names  []string
	items  []*doc
	object bool
}

func drawDocument(t *rapid.T, depth int, n *int) *doc {
	if depth == 0 || rapid.Bool().Draw(t, "scalar") {
		d := &doc{id: *n, scalar: rapid.SampledFrom([]string{`"x"`, `"\u00e9\n"`, "1", "-2.5", "true", "null", `""`, "1e3"}).Draw(t, "text")}
		*n++
		return d
	}
	d := &doc{object: rapid.Bool().Draw(t, "object")}
	d.names = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-cé"\\]{0,3}`), 0, 4, rapid.ID).Draw(t, "names")
	for range d.names {
		d.items = append(d.items, drawDocument(t, depth-1, n))
	}
	return d
}

// write spells the document; t shuffles members and adds white space. The
// scalar with the number changed becomes another one.
func (d *doc) write(t *rapid.T, depth, changed int) string {
	if d.items == nil && !d.object && d.scalar != "" {
		if d.id == changed {
			return `"changed"`
		}
		return d.scalar
	}
	space := ""
	if t != nil {
		space = rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
	}
	order := make([]int, len(d.items))
	for i := range order {
		order[i] = i
	}
	if t != nil && d.object {
		order = rapid.Permutation(order).Draw(t, "order")
	}
	var parts []string
	for _, i := range order {
		text := space + d.items[i].write(t, depth+1, changed)
		if d.object {
			text = space + string(appendJSONString(nil, d.names[i])) + space + ":" + text
		}
		parts = append(parts, text)
	}
	if d.object {
		return "{" + strings.Join(parts, space+",") + space + "}"
	}
	return "[" + strings.Join(parts, space+",") + space + "]"
}

// Text survives the array literal and PostgreSQL's quoting, whatever it holds.
func TestArray_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.Ptr(rapid.StringMatching(`[\x01-\x7fü😀]*|NULL|null`), true)).Draw(t, "texts")
		items := make([]Value, len(texts))
		for i, s := range texts {
			items[i] = nullValue()
			if s != nil {
				items[i] = textValue(*s)
			}
		}
		again, fault := parseArray(KindText, arrayValue(items).Text)
		if fault != nil || !slices.EqualFunc(items, again, func(a, b Value) bool { return a.Null == b.Null && a.Text == b.Text }) {
			t.Fatalf("%+v became %+v (%v)", items, again, fault)
		}
	})
}

func TestInterval_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := span{
			int64(rapid.Int32Range(-1<<31+1, 1<<31-1).Draw(t, "months")), int64(rapid.Int32Range(-1<<31+1, 1<<31-1).Draw(t, "days")),
			rapid.Int64Range(-7e18, 7e18).Draw(t, "micros"),
		}
		again, fault := parseSpan(s.text())
		if fault != nil || again != s {
			t.Fatalf("%+v is %s, read as %+v (%v)", s, s.text(), again, fault)
		}
	})
}

// Values changed one at a time give other fingerprints, in every part.
func TestFingerprint_anyChangeShows(t *testing.T) {
	d := compileTest(t, printOp())
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfNDistinct(rapid.Int64(), 2, 2, rapid.ID).Draw(t, "amounts")
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z"\\ü]{0,4}`), 2, 2, rapid.ID).Draw(t, "names")
		body := func(amount int64, name string) request {
			quoted := string(appendJSONString(nil, name))
			return printRequest(`{"customer":{"name":` + quoted + `},"amount":` + strconv.FormatInt(amount, 10) + `}`)
		}
		seen := map[string]bool{}
		for _, amount := range amounts {
			for _, name := range names {
				values, err := d.decode(body(amount, name))
				if err != nil {
					t.Fatal(err)
				}
				seen[string(d.fingerprint(values))] = true
			}
		}
		if len(seen) != 4 {
			t.Fatalf("%d fingerprints of 4 requests", len(seen))
		}
	})
}

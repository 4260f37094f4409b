package idem

import (
	"math"
	"strconv"
	"strings"
)

// A number of more digits, or a larger exponent, is refused: numbers are
// written out without exponent, and 1e1000000 is nine bytes of a request.
const (
	maxDigits   = 1000
	maxExponent = 400
)

// decimal is an exact decimal number, digits × 10^exp. digits has neither
// leading nor trailing zeros; zero has none at all.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// parseDecimal reads sign, digits, fraction and exponent. ok is false where s
// is not a number; fits is false where it passes the bounds above.
func parseDecimal(s string) (d decimal, ok, fits bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		d.negative = s[0] == '-'
		s = s[1:]
	}
	mantissa, exponent, hasExp := cutExponent(s)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return d, false, false
	}
	fits = len(whole)+len(fraction) <= maxDigits
	if hasExp {
		e, err := strconv.Atoi(exponent)
		if err != nil && !digitsWithSign(exponent) {
			return d, false, false
		}
		fits = fits && err == nil && e >= -maxExponent && e <= maxExponent
		d.exp = e
	}
	if !fits {
		return d, true, false
	}
	return d.normalised(whole, fraction), true, true
}

func (d decimal) normalised(whole, fraction string) decimal {
	d.exp -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exp += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func cutExponent(s string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func digitsWithSign(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return s != "" && allDigits(s)
}

// text is the number without exponent and without needless zeros: equal
// numbers have equal text.
func (d decimal) text() string {
	if d.digits == "" {
		return "0"
	}
	var b strings.Builder
	if d.negative {
		b.WriteByte('-')
	}
	point := len(d.digits) + d.exp // digits before the decimal point
	switch {
	case d.exp >= 0:
		b.WriteString(d.digits)
		writeZeros(&b, d.exp)
	case point > 0:
		b.WriteString(d.digits[:point])
		b.WriteByte('.')
		b.WriteString(d.digits[point:])
	default:
		b.WriteString("0.")
		writeZeros(&b, -point)
		b.WriteString(d.digits)
	}
	return b.String()
}

// round is the nearest number with at most scale digits behind the point, half
// away from zero as PostgreSQL's numeric does; a negative scale rounds before
// the point.
func (d decimal) round(scale int) decimal {
	drop := -scale - d.exp
	switch {
	case drop <= 0:
		return d
	case drop > len(d.digits):
		return decimal{}
	}
	kept := []byte("0" + d.digits[:len(d.digits)-drop])
	if d.digits[len(d.digits)-drop] >= '5' {
		i := len(kept) - 1
		for ; kept[i] == '9'; i-- {
			kept[i] = '0'
		}
		kept[i]++
	}
	return decimal{negative: d.negative, exp: -scale}.normalised(string(kept), "")
}

func writeZeros(b *strings.Builder, n int) {
	for range n {
		b.WriteByte('0')
	}
}

// compare is -1, 0 or 1.
func (d decimal) compare(o decimal) int {
	if d.sign() != o.sign() {
		return cmpInt(d.sign(), o.sign())
	}
	magnitude := d.compareMagnitude(o)
	if d.negative {
		return -magnitude
	}
	return magnitude
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

func (d decimal) compareMagnitude(o decimal) int {
	if c := cmpInt(len(d.digits)+d.exp, len(o.digits)+o.exp); c != 0 {
		return c
	}
	// Both are 0.digits × 10^same, so the digits compare like words.
	return strings.Compare(d.digits, o.digits)
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// canonInteger is the plain text of an integral number in the kind's range.
func canonInteger(k Kind, s string) (string, *valueFault) {
	if text, ok := plainInteger(k, s); ok {
		return text, nil
	}
	d, ok, fits := parseDecimal(s)
	switch {
	case !ok:
		return "", wantKind(k)
	case !fits || d.exp >= 0 && len(d.digits)+d.exp > 19:
		return "", outOfRange(k)
	case d.exp < 0:
		return "", wantKind(k)
	}
	text := d.text()
	if _, err := strconv.ParseInt(text, 10, k.bits()); err != nil {
		return "", outOfRange(k)
	}
	return text, nil
}

// plainInteger is the common case, an integer as everyone writes it.
func plainInteger(k Kind, s string) (string, bool) {
	if s == "" || len(s) > 18 || s[0] == '+' || s[0] == '0' && len(s) > 1 || strings.HasPrefix(s, "-0") {
		return "", false
	}
	_, err := strconv.ParseInt(s, 10, k.bits())
	return s, err == nil
}

// canonNumeric writes a number out without exponent, its scale kept: 1.50
// stays 1.50. NaN and infinities are refused: they pass a CHECK (amount > 0).
func canonNumeric(s string) (string, *valueFault) {
	d, ok, fits := parseDecimal(s)
	if !ok {
		return "", wantKind(KindNumeric)
	}
	if !fits {
		return "", outOfRange(KindNumeric)
	}
	if _, _, hasExp := cutExponent(s); hasExp {
		return d.text(), nil
	}
	return plainNumeric(s), nil
}

func plainNumeric(s string) string {
	sign := ""
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = "-"
		}
		s = s[1:]
	}
	whole, fraction, point := strings.Cut(s, ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if !point || fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}

// canonFloat is the shortest text that gives the same floating-point number.
func canonFloat(k Kind, s string) (string, *valueFault) {
	switch s {
	case "NaN", "Infinity", "-Infinity":
		return s, nil
	}
	d, ok, fits := parseDecimal(s)
	if !ok {
		return "", wantKind(k)
	}
	f, err := strconv.ParseFloat(s, k.bits())
	if !fits || err != nil || f == 0 && d.digits != "" {
		return "", outOfRange(k)
	}
	if f == 0 {
		return "0", nil
	}
	return strconv.FormatFloat(f, 'g', -1, k.bits()), nil
}

// compareNumbers compares canonical texts of a numeric, integer or
// floating-point kind as PostgreSQL does: NaN is above everything.
func compareNumbers(a, b string) int {
	da, ok, _ := parseDecimal(a)
	db, okB, _ := parseDecimal(b)
	if ok && okB {
		return da.compare(db)
	}
	fa, fb := specialRank(a, ok), specialRank(b, okB)
	return cmpInt(fa, fb)
}

func specialRank(s string, finite bool) int {
	switch {
	case finite:
		return 0
	case s == "-Infinity":
		return math.MinInt
	case s == "Infinity":
		return 1
	default:
		return 2
	}
}

package idem

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// What a Go function returns is shown as SQL would show it, byte for byte: an
// answer must not tell which kind of step made a value. The SQL is
// generator/plan's renderer; a test compares the two for every type.

// appendResult writes a value as JSON.
func appendResult(dst []byte, r *GoResult, bigintString bool, v Value) []byte {
	switch {
	case v.Null || !v.Set:
		return append(dst, "null"...)
	case !r.Array:
		return appendScalar(dst, r, bigintString, v.Text)
	}
	dst = append(dst, '[')
	for i, item := range v.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if item.Null {
			dst = append(dst, "null"...)
			continue
		}
		dst = appendScalar(dst, r, bigintString, item.Text)
	}
	return append(dst, ']')
}

func appendScalar(dst []byte, r *GoResult, bigintString bool, text string) []byte {
	switch r.Kind {
	case KindBool, KindInt2, KindInt4:
		return append(dst, text...)
	case KindInt8:
		if !bigintString {
			return append(dst, text...)
		}
	case KindFloat4, KindFloat8:
		if text[len(text)-1] <= '9' { // NaN and infinities are strings
			return append(dst, text...)
		}
	case KindTimestamp, KindTime:
		text = withoutZeros(text)
	case KindInterval:
		if s, fault := parseSpan(text); fault == nil {
			text = s.isoText()
		}
	case KindBytea:
		if raw, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			text = base64.StdEncoding.EncodeToString(raw)
		}
	case KindJSON:
		if r.JSONB {
			return appendJSONB(dst, text)
		}
		return append(dst, text...)
	}
	return appendSQLString(dst, text)
}

// withoutZeros drops what PostgreSQL drops at the end of a fraction of seconds.
func withoutZeros(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// isoText is PostgreSQL's own ISO 8601 form: months beyond a year are years.
func (s span) isoText() string {
	if abs(s.months) < 12 {
		return s.text()
	}
	years := "P" + strconv.FormatInt(s.months/12, 10) + "Y"
	s.months %= 12
	rest := s.text()
	if rest == "PT0S" {
		return years
	}
	return years + rest[1:]
}

// floatText is float4out and float8out with extra_float_digits=1: the shortest
// digits that give the same number, with an exponent below 1e-4 and from 1e15
// (1e6 where it has four bytes).
func floatText(k Kind, s string) (string, error) {
	f, err := strconv.ParseFloat(s, k.bits())
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not %s", s, kinds[k].json)
	case math.IsNaN(f):
		return "NaN", nil
	case math.IsInf(f, 0):
		return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0], nil
	}
	text := shortest(f, k.bits())
	digits, exponent, _ := cutExponent(text)
	e, err := strconv.Atoi(exponent)
	limit := 15
	if k == KindFloat4 {
		limit = 6
	}
	if err != nil || e < -4 || e >= limit {
		return text, nil
	}
	_, fraction, _ := strings.Cut(digits, ".")
	return strconv.FormatFloat(f, 'f', max(len(fraction)-e, 0), k.bits()), nil
}

// shortest are the fewest digits that lie nearer to f than to any other number.
// Go also takes those half-way to the next one, which reading rounds to f;
// PostgreSQL does not.
func shortest(f float64, bits int) string {
	text := strconv.FormatFloat(f, 'e', -1, bits)
	for isHalfWay(text, f, bits) {
		digits, _, _ := cutExponent(text)
		_, fraction, _ := strings.Cut(digits, ".")
		text = strconv.FormatFloat(f, 'e', len(fraction)+1, bits)
	}
	return text
}

func isHalfWay(text string, f float64, bits int) bool {
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return false
	}
	for _, towards := range []float64{math.Inf(1), math.Inf(-1)} {
		next := math.Nextafter(f, towards)
		if bits == 32 {
			next = float64(math.Nextafter32(float32(f), float32(towards)))
		}
		if math.IsInf(next, 0) {
			continue
		}
		sum := new(big.Rat).Add(new(big.Rat).SetFloat64(f), new(big.Rat).SetFloat64(next))
		if exact.Cmp(sum.Quo(sum, big.NewRat(2, 1))) == 0 {
			return true
		}
	}
	return false
}

// appendSQLString quotes a text as to_json does.
func appendSQLString(dst []byte, s string) []byte {
	escapes := map[byte]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '"': '"', '\\': '\\'}
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch short, ok := escapes[c]; {
		case ok:
			dst = append(dst, '\\', short)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// appendJSONB writes a document as jsonb prints it: members by the length of
// their names and then their bytes, the last of equal names, numbers written out.
func appendJSONB(dst []byte, text string) []byte {
	s := &jsonScanner{data: []byte(text)}
	out, err := s.appendJSONB(dst)
	if err != nil || s.end() != nil {
		return append(dst, text...)
	}
	return out
}

func (s *jsonScanner) appendJSONB(dst []byte) ([]byte, *Error) {
	switch s.peek() {
	case '{':
		return s.appendJSONBObject(dst)
	case '[':
		dst = append(dst, '[')
		err := s.array(func(i int) *Error {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			var err *Error
			dst, err = s.appendJSONB(dst)
			return err
		})
		return append(dst, ']'), err
	}
	token, err := s.scalar()
	if err != nil {
		return dst, err
	}
	switch token.kind {
	case tokenString:
		return appendSQLString(dst, string(token.text)), nil
	case tokenNumber:
		return append(dst, jsonbNumber(string(token.text))...), nil
	default:
		return append(dst, token.text...), nil
	}
}

func (s *jsonScanner) appendJSONBObject(dst []byte) ([]byte, *Error) {
	var members []canonMember
	err := s.object(func(name []byte) *Error {
		value, err := s.appendJSONB(nil)
		members = append(members, canonMember{slices.Clone(name), value})
		return err
	})
	if err != nil {
		return dst, err
	}
	slices.SortFunc(members, func(a, b canonMember) int {
		if len(a.name) != len(b.name) {
			return cmpInt(len(a.name), len(b.name))
		}
		return bytes.Compare(a.name, b.name)
	})
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendSQLString(dst, string(m.name)), ": "...)
		dst = append(dst, m.value...)
	}
	return append(dst, '}'), nil
}

// jsonbNumber is numeric_out of a JSON number: no exponent, the scale that the
// text has.
func jsonbNumber(s string) string {
	mantissa, exponent, hasExp := cutExponent(s)
	e, err := strconv.Atoi(exponent)
	if !hasExp || err != nil {
		return zeroUnsigned(plainNumeric(s))
	}
	sign := ""
	if mantissa[0] == '-' {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, scale := whole+fraction, len(fraction)-e
	if scale <= 0 {
		digits += strings.Repeat("0", -scale)
		return zeroUnsigned(plainNumeric(sign + digits))
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	return zeroUnsigned(plainNumeric(sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]))
}

// zeroUnsigned: a numeric has no negative zero.
func zeroUnsigned(s string) string {
	if strings.HasPrefix(s, "-") && strings.Trim(s, "-0.") == "" {
		return s[1:]
	}
	return s
}

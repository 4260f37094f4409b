package idem

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// canonUUID takes the forms that PostgreSQL takes: braces, upper case, and
// hyphens after any group of four digits. It gives the usual one.
func canonUUID(s string) (string, *valueFault) {
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		s = s[1 : len(s)-1]
	}
	var digits [32]byte
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '-' {
			if n%4 != 0 || n == 0 || s[i-1] == '-' {
				return "", wantKind(KindUUID)
			}
			continue
		}
		if n == 32 || !isHex(c) {
			return "", wantKind(KindUUID)
		}
		digits[n] = lowerHex(c)
		n++
	}
	if n != 32 || s[len(s)-1] == '-' {
		return "", wantKind(KindUUID)
	}
	return string(digits[:8]) + "-" + string(digits[8:12]) + "-" + string(digits[12:16]) + "-" +
		string(digits[16:20]) + "-" + string(digits[20:]), nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func lowerHex(c byte) byte {
	if c >= 'A' && c <= 'F' {
		return c + 'a' - 'A'
	}
	return c
}

var strictBase64 = base64.RawStdEncoding.Strict()

// canonBytea reads standard base64, padded or not (RFC 4648 section 4), and
// gives PostgreSQL's hex form.
func canonBytea(s string) (string, *valueFault) {
	if strings.ContainsAny(s, "\r\n") { // Go's decoder would skip them
		return "", wantKind(KindBytea)
	}
	bare := s
	if len(s)%4 == 0 {
		bare = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	raw, err := strictBase64.DecodeString(bare)
	if err != nil {
		return "", wantKind(KindBytea)
	}
	return hexText(raw), nil
}

func hexText(raw []byte) string {
	text := make([]byte, 2+hex.EncodedLen(len(raw)))
	text[0], text[1] = '\\', 'x'
	hex.Encode(text[2:], raw)
	return string(text)
}

// canonHex checks PostgreSQL's hex form, which pgx writes.
func canonHex(s string) (string, *valueFault) {
	digits, ok := strings.CutPrefix(s, `\x`)
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return "", wantKind(KindBytea)
	}
	return hexText(raw), nil
}

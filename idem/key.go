package idem

import (
	"net/http"
	"strings"
)

// maxKeyLength is in characters, which are bytes here.
const maxKeyLength = 255

// readKey reads the key from a request's header lines. The key is "" where
// there is no such line.
func (p *protocol) readKey(lines []string) (string, *Error) {
	switch len(lines) {
	case 0:
		return "", nil
	case 1:
		if key, ok := p.parseKey(strings.Trim(lines[0], " \t")); ok {
			return key, nil
		}
		return "", p.errKeyInvalid(p.keyRule)
	}
	return "", p.errKeyInvalid("More than one header line was sent.")
}

func (p *protocol) errKeyInvalid(detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "key-invalid", Title: p.keyTitle, Detail: detail}
}

func errKeyMissing(detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "key-missing", Title: "Idempotency key missing", Detail: detail}
}

// parseKey decodes a key of the profiles ietf and stripe: a structured-field string (RFC 9651), or the same
// value bare. Parameters are checked and ignored.
func parseKey(text string) (string, bool) {
	key, rest, ok := text, "", true
	if strings.HasPrefix(text, `"`) {
		key, rest, ok = cutQuoted(text)
	} else if at := strings.IndexByte(text, ';'); at >= 0 {
		key, rest = text[:at], text[at:]
	}
	if !ok || !strings.HasPrefix(text, `"`) && strings.ContainsAny(key, `,"\`) {
		return "", false
	}
	return key, validKey(key) && validParameters(rest)
}

// validKey holds for the decoded value, wherever it came from.
func validKey(key string) bool {
	if len(key) == 0 || len(key) > maxKeyLength {
		return false
	}
	for i := range len(key) {
		if key[i] < 0x21 || key[i] > 0x7e {
			return false
		}
	}
	return true
}

// cutQuoted decodes the structured-field string that text begins with.
func cutQuoted(text string) (value, rest string, ok bool) {
	var decoded strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return decoded.String(), text[i+1:], true
		case c == '\\':
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", "", false
			}
			decoded.WriteByte(text[i])
		case c < 0x20 || c > 0x7e:
			return "", "", false
		default:
			decoded.WriteByte(c)
		}
	}
	return "", "", false
}

// validParameters checks *( ";" *SP key [ "=" bare-item ] ).
func validParameters(text string) bool {
	for text != "" {
		if text[0] != ';' {
			return false
		}
		text = strings.TrimLeft(text[1:], " ")
		name := cutWhile(&text, isParameterName)
		if name == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz*", rune(name[0])) {
			return false
		}
		if !strings.HasPrefix(text, "=") {
			continue
		}
		text = text[1:]
		if strings.HasPrefix(text, `"`) {
			_, rest, ok := cutQuoted(text)
			if !ok {
				return false
			}
			text = rest
		} else if cutWhile(&text, isBareItem) == "" {
			return false
		}
	}
	return true
}

func cutWhile(text *string, keep func(byte) bool) string {
	n := 0
	for n < len(*text) && keep((*text)[n]) {
		n++
	}
	cut := (*text)[:n]
	*text = (*text)[n:]
	return cut
}

func isParameterName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_-.*", c) >= 0
}

// isBareItem holds for the characters of tokens, numbers, booleans and bytes.
func isBareItem(c byte) bool {
	return c > 0x20 && c < 0x7f && strings.IndexByte(`;,"\`, c) < 0
}

var keyEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoteKey is a key as a serialised structured-field string.
func quoteKey(key string) string {
	return `"` + keyEscapes.Replace(key) + `"`
}

package idem

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string. Its bytes are those of the input where it has no
// escapes.
func (s *jsonScanner) string() ([]byte, *Error) {
	s.pos++
	start, ascii := s.pos, true
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			text := s.data[start:s.pos]
			if !ascii && !utf8.Valid(text) {
				return nil, malformedBody("a string before byte %d is not valid UTF-8", s.pos)
			}
			s.pos++
			return text, nil
		case c == '\\':
			return s.escaped(append([]byte(nil), s.data[start:s.pos]...))
		case c < ' ':
			return nil, s.syntax("control character in a string")
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, s.syntax("string without end")
}

// escaped reads the rest of a string that has escapes.
func (s *jsonScanner) escaped(text []byte) ([]byte, *Error) {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			if !utf8.Valid(text) {
				return nil, malformedBody("a string before byte %d is not valid UTF-8", s.pos)
			}
			s.pos++
			return text, nil
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return nil, err
			}
			text = utf8.AppendRune(text, r)
		case c < ' ':
			return nil, s.syntax("control character in a string")
		default:
			text = append(text, c)
			s.pos++
		}
	}
	return nil, s.syntax("string without end")
}

const escapes, escapeValues = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

func (s *jsonScanner) escape() (rune, *Error) {
	s.pos++
	if s.pos >= len(s.data) {
		return 0, s.syntax("string without end")
	}
	c := s.data[s.pos]
	if i := bytes.IndexByte([]byte(escapes), c); i >= 0 {
		s.pos++
		return rune(escapeValues[i]), nil
	}
	if c != 'u' {
		return 0, s.syntax("unknown escape in a string")
	}
	r, ok := s.unit()
	if !ok {
		return 0, s.syntax("malformed escape in a string")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	// The other half must follow; U+FFFD is what a wrong pair decodes to.
	if s.pos+1 < len(s.data) && s.data[s.pos] == '\\' && s.data[s.pos+1] == 'u' {
		s.pos++
		if low, ok := s.unit(); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, nil
			}
		}
	}
	return 0, s.syntax("lone surrogate in a string")
}

// unit reads the u and the four hex digits of an escape.
func (s *jsonScanner) unit() (rune, bool) {
	if s.pos+5 > len(s.data) {
		return 0, false
	}
	digits := s.data[s.pos+1 : s.pos+5]
	for _, c := range digits {
		if !isHex(c) {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(digits), 16, 32)
	s.pos += 5
	return rune(n), err == nil
}

// quoteShort quotes text of a request for a message, cut where it is long.
func quoteShort(s string) string {
	const limit = 64
	if len(s) > limit {
		return strconv.Quote(s[:limit]) + "…"
	}
	return strconv.Quote(s)
}

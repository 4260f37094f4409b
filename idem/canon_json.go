package idem

import (
	"bytes"
	"slices"
)

// canonJSON writes a valid document in one form: members sorted by name, no
// white space, numbers as decimals, as few escapes as possible. Documents of
// equal value have equal text.
func canonJSON(text string) string {
	s := &jsonScanner{data: []byte(text)}
	out, err := s.appendCanon(make([]byte, 0, len(text)))
	if err != nil || s.end() != nil {
		return text
	}
	return string(out)
}

func (s *jsonScanner) appendCanon(dst []byte) ([]byte, *Error) {
	switch s.peek() {
	case '{':
		return s.appendCanonObject(dst)
	case '[':
		return s.appendCanonArray(dst)
	}
	token, err := s.scalar()
	if err != nil {
		return dst, err
	}
	switch token.kind {
	case tokenString:
		return appendJSONString(dst, token.text), nil
	case tokenNumber:
		return append(dst, printText(KindNumeric, string(token.text))...), nil
	default:
		return append(dst, token.text...), nil
	}
}

type canonMember struct{ name, value []byte }

func (s *jsonScanner) appendCanonObject(dst []byte) ([]byte, *Error) {
	var members []canonMember
	err := s.object(func(name []byte) *Error {
		value, err := s.appendCanon(nil)
		members = append(members, canonMember{name, value})
		return err
	})
	if err != nil {
		return dst, err
	}
	slices.SortFunc(members, func(a, b canonMember) int { return bytes.Compare(a.name, b.name) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, m.name), ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}'), nil
}

func (s *jsonScanner) appendCanonArray(dst []byte) ([]byte, *Error) {
	dst = append(dst, '[')
	first := true
	err := s.array(func(int) *Error {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		var err *Error
		dst, err = s.appendCanon(dst)
		return err
	})
	return append(dst, ']'), err
}

// appendJSONString quotes s, which is valid UTF-8, with the escapes that RFC
// 8259 demands and no others.
func appendJSONString[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

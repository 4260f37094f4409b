package schema

import (
	"regexp"
	"strconv"
	"strings"
)

// goPattern translates a regular expression of PostgreSQL's operator ~ to Go's
// syntax, if it surely means the same there: ASCII only, no classes that
// depend on the locale (\w, [[:alpha:]]), no back references, no embedded
// options. PostgreSQL's dot matches newlines, Go's does not without (?s).
func goPattern(p string) (string, bool) {
	s := patternScanner{text: p}
	for s.at < len(p) {
		if !s.atom() {
			return "", false
		}
	}
	if s.dot {
		p = "(?s)" + p
	}
	if _, err := regexp.Compile(p); err != nil {
		return "", false
	}
	return p, true
}

type patternScanner struct {
	text string
	at   int
	dot  bool
}

// atom passes one element of the pattern, false if it isn't surely the same.
func (s *patternScanner) atom() bool {
	c := s.text[s.at]
	switch {
	case c > 0x7E || c < 0x20:
		return false
	case c == '\\':
		return s.escape()
	case c == '[':
		return s.bracket()
	case c == '{':
		return s.bound()
	case c == '(':
		s.at++
		if strings.HasPrefix(s.text[s.at:], "?") {
			ok := strings.HasPrefix(s.text[s.at:], "?:")
			s.at += 2
			return ok
		}
		return true
	case c == '*':
		// a star at the start is literal, *** begins options, **  differs
		if s.at == 0 || strings.ContainsRune("*+(|^", rune(s.text[s.at-1])) {
			return false
		}
	case c == '.':
		s.dot = true
	case c == '}':
		return false
	}
	s.at++
	return true
}

// escape passes an escaped punctuation character.
func (s *patternScanner) escape() bool {
	if s.at+1 >= len(s.text) {
		return false
	}
	c := s.text[s.at+1]
	s.at += 2
	return c > 0x20 && c < 0x7F && !isWordByte(c)
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// bracket passes a bracket expression without classes inside.
func (s *patternScanner) bracket() bool {
	s.at++
	if strings.HasPrefix(s.text[s.at:], "^") {
		s.at++
	}
	for first := true; s.at < len(s.text); first = false {
		c := s.text[s.at]
		switch {
		case c == ']' && !first:
			s.at++
			return true
		case c == ']', c == '[', c > 0x7E, c < 0x20:
			return false
		case c == '\\':
			if !s.escape() {
				return false
			}
			continue
		}
		s.at++
	}
	return false
}

var boundForm = regexp.MustCompile(`^\{([0-9]{1,3})(?:,([0-9]{0,3}))?\}`)

// bound passes {m}, {m,} or {m,n}; PostgreSQL counts to 255.
func (s *patternScanner) bound() bool {
	form := boundForm.FindStringSubmatch(s.text[s.at:])
	if form == nil {
		return false
	}
	s.at += len(form[0])
	for _, number := range form[1:] {
		if n, err := strconv.Atoi(number); err == nil && n > 255 {
			return false
		}
	}
	return true
}

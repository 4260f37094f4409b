package idem

import (
	"bytes"
	"fmt"
	"net/http"
)

// maxDepth bounds how deeply arrays and objects may nest.
const maxDepth = 64

// jsonScanner reads one JSON text (RFC 8259) in one pass, without an
// intermediate form: numbers stay text, duplicate members are refused.
// Its errors are 400 answers.
type jsonScanner struct {
	data  []byte
	pos   int
	depth int
	names [][]byte // members seen in the objects that are open
	// unstorable is set where a document holds what PostgreSQL's jsonb can't:
	// U+0000 in a string, a number out of numeric's reach.
	unstorable *valueFault
}

// malformedBody is the answer to a body that is not the JSON it should be.
func malformedBody(format string, args ...any) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: "body-malformed",
		Title: "The request body is not valid JSON", Detail: fmt.Sprintf(format, args...),
	}
}

func (s *jsonScanner) syntax(what string) *Error {
	if s.pos >= len(s.data) {
		return malformedBody("unexpected end at byte %d: %s", s.pos, what)
	}
	return malformedBody("at byte %d: %s", s.pos, what)
}

// peek skips white space and gives the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// end fails unless only white space is left.
func (s *jsonScanner) end() *Error {
	s.peek()
	if s.pos < len(s.data) {
		return s.syntax("text after the end of the value")
	}
	return nil
}

func (s *jsonScanner) open() *Error {
	s.depth++
	if s.depth > maxDepth {
		return malformedBody("nested more than %d levels deep", maxDepth)
	}
	s.pos++
	return nil
}

// array reads an array; element must read exactly one value.
func (s *jsonScanner) array(element func(i int) *Error) *Error {
	if err := s.open(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if i == 0 && s.peek() == ']' {
			break
		}
		if err := element(i); err != nil {
			return err
		}
		if c := s.peek(); c == ']' {
			break
		} else if c != ',' {
			return s.syntax("expected , or ] in an array")
		}
		s.pos++
	}
	s.pos++
	s.depth--
	return nil
}

// object reads an object; member must read exactly one value.
func (s *jsonScanner) object(member func(name []byte) *Error) *Error {
	if err := s.open(); err != nil {
		return err
	}
	seen := seenNames{scanner: s, base: len(s.names)}
	for first := true; ; first = false {
		if first && s.peek() == '}' {
			break
		}
		name, err := s.memberName()
		if err != nil {
			return err
		}
		if !seen.add(name) {
			return duplicateMember(name)
		}
		if err := member(name); err != nil {
			return err
		}
		if c := s.peek(); c == '}' {
			break
		} else if c != ',' {
			return s.syntax("expected , or } in an object")
		}
		s.pos++
	}
	s.names = s.names[:seen.base]
	s.pos++
	s.depth--
	return nil
}

func (s *jsonScanner) memberName() ([]byte, *Error) {
	if s.peek() != '"' {
		return nil, s.syntax("expected the name of a member")
	}
	name, err := s.string()
	if err != nil {
		return nil, err
	}
	if s.peek() != ':' {
		return nil, s.syntax("expected : after the name of a member")
	}
	s.pos++
	return name, nil
}

func duplicateMember(name []byte) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: "member-duplicate",
		Title:  "A member is repeated",
		Detail: fmt.Sprintf("member %s occurs more than once in an object", quoteShort(string(name))),
	}
}

// seenNames finds repeated members: by looking through a short list, and by a
// map once the object has grown.
type seenNames struct {
	scanner *jsonScanner
	base    int
	large   map[string]bool
}

func (n *seenNames) add(name []byte) bool {
	s := n.scanner
	if n.large == nil {
		for _, other := range s.names[n.base:] {
			if bytes.Equal(other, name) {
				return false
			}
		}
		s.names = append(s.names, name)
		if len(s.names)-n.base == 16 {
			n.grow()
		}
		return true
	}
	if n.large[string(name)] {
		return false
	}
	n.large[string(name)] = true
	return true
}

func (n *seenNames) grow() {
	n.large = make(map[string]bool, 64)
	for _, name := range n.scanner.names[n.base:] {
		n.large[string(name)] = true
	}
}

type tokenKind uint8

const (
	tokenNull tokenKind = iota
	tokenBool
	tokenNumber
	tokenString
)

// token is a scalar: its text, without the quotes and escapes of a string.
type token struct {
	kind tokenKind
	text []byte
}

// scalar reads a value that is neither object nor array.
func (s *jsonScanner) scalar() (token, *Error) {
	switch c := s.peek(); c {
	case '"':
		text, err := s.string()
		return token{tokenString, text}, err
	case 't':
		return s.word("true", tokenBool)
	case 'f':
		return s.word("false", tokenBool)
	case 'n':
		return s.word("null", tokenNull)
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return s.number()
		}
		return token{}, s.syntax("expected a value")
	}
}

func (s *jsonScanner) word(word string, kind tokenKind) (token, *Error) {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return token{}, s.syntax("expected a value")
	}
	start := s.pos
	s.pos += len(word)
	return token{kind, s.data[start:s.pos]}, nil
}

func (s *jsonScanner) digits() int {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

// at takes the next byte if it is one of set.
func (s *jsonScanner) at(set string) bool {
	if s.pos < len(s.data) && bytes.IndexByte([]byte(set), s.data[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

// number reads RFC 8259's grammar: no leading zeros, no plus, no bare point.
func (s *jsonScanner) number() (token, *Error) {
	start := s.pos
	s.at("-")
	zero := s.pos < len(s.data) && s.data[s.pos] == '0'
	if n := s.digits(); n == 0 || zero && n > 1 {
		return token{}, s.syntax("malformed number")
	}
	if s.at(".") && s.digits() == 0 {
		return token{}, s.syntax("malformed number")
	}
	if s.at("eE") {
		s.at("+-")
		if s.digits() == 0 {
			return token{}, s.syntax("malformed number")
		}
	}
	text := s.data[start:s.pos]
	return token{tokenNumber, text}, nil
}

// skip reads any value and notes what makes it unstorable.
func (s *jsonScanner) skip() *Error {
	switch s.peek() {
	case '{':
		return s.object(func(name []byte) *Error {
			s.storable(token{tokenString, name})
			return s.skip()
		})
	case '[':
		return s.array(func(int) *Error { return s.skip() })
	}
	t, err := s.scalar()
	if err == nil {
		s.storable(t)
	}
	return err
}

func (s *jsonScanner) storable(t token) {
	switch t.kind {
	case tokenString:
		if bytes.IndexByte(t.text, 0) >= 0 {
			s.unstorable = &valueFault{"nul", "must not contain the character U+0000"}
		}
	case tokenNumber:
		if plainNumber(t.text) {
			return
		}
		if _, _, fits := parseDecimal(string(t.text)); !fits {
			s.unstorable = outOfRange(KindJSON)
		}
	}
}

// plainNumber: short and without exponent, surely within bounds.
func plainNumber(text []byte) bool {
	return len(text) < 32 && bytes.IndexByte(text, 'e') < 0 && bytes.IndexByte(text, 'E') < 0
}

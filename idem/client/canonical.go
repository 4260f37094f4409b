package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep arrays and objects may nest.
const maxDepth = 1000

// Canonical writes a payload in one form, so that payloads of equal value have
// equal bytes. A json.RawMessage or []byte is taken as JSON text, anything else goes
// through encoding/json first.
//
// The form is that of RFC 8785 (JSON Canonicalization Scheme): no white space,
// members sorted by the UTF-16 code units of their names, strings with the shortest
// escapes; with one difference, the numbers. RFC 8785 rounds each to a double, so
// that 9007199254740993 and 9007199254740992, two amounts or two ids, would be one
// payload. Here a number keeps its exact decimal value: a minus sign if it is below
// zero, the digits without leading and trailing zeros, and, where it isn't 0, the
// power of ten as "e" and an integer. 1.50, 1.5 and 15e-1 are "15e-1"; 100 and 1e2
// are "1e2"; -0 is "0".
//
// Texts are not normalised: "é" as one or as two code points are two payloads. What
// is not one JSON document in UTF-8 is an error, and so are a name that appears twice
// in an object, half of a surrogate pair, an exponent of more than nine digits, and
// a thousand levels of nesting.
func Canonical(payload any) ([]byte, error) {
	text, err := jsonText(payload)
	if err != nil {
		return nil, fmt.Errorf("client: payload: %w", err)
	}
	if err := checkText(text); err != nil {
		return nil, fmt.Errorf("client: payload: %w", err)
	}
	c := canonicaliser{json.NewDecoder(bytes.NewReader(text))}
	c.UseNumber()
	out, err := c.value(make([]byte, 0, len(text)), 0)
	if err != nil {
		return nil, fmt.Errorf("client: payload: %w", err)
	}
	if _, err := c.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("client: payload: more than one JSON document")
	}
	return out, nil
}

func jsonText(payload any) ([]byte, error) {
	switch p := payload.(type) {
	case json.RawMessage:
		return p, nil
	case []byte:
		return p, nil
	}
	return json.Marshal(payload)
}

// canonicaliser writes the values that it reads.
type canonicaliser struct{ *json.Decoder }

func (c canonicaliser) value(dst []byte, depth int) ([]byte, error) {
	token, err := c.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return dst, err
	}
	switch v := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return dst, errors.New("nested too deeply")
		}
		if v == '{' {
			return c.object(dst, depth+1)
		}
		return c.array(dst, depth+1)
	case json.Number:
		return appendNumber(dst, string(v))
	case string:
		return appendString(dst, v), nil
	case bool:
		return fmt.Appendf(dst, "%t", v), nil
	default:
		return append(dst, "null"...), nil
	}
}

func (c canonicaliser) array(dst []byte, depth int) (_ []byte, err error) {
	dst = append(dst, '[')
	for first := true; c.More(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		if dst, err = c.value(dst, depth); err != nil {
			return dst, err
		}
	}
	_, err = c.Token()
	return append(dst, ']'), err
}

// member is a member of an object: its name as it is sorted, and both halves as
// they are written.
type member struct {
	order []uint16
	text  []byte
}

func (c canonicaliser) object(dst []byte, depth int) ([]byte, error) {
	var members []member
	for c.More() {
		token, err := c.Token()
		if err != nil {
			return dst, err
		}
		name, _ := token.(string) // the decoder refuses all else
		text, err := c.value(append(appendString(nil, name), ':'), depth)
		if err != nil {
			return dst, err
		}
		members = append(members, member{utf16.Encode([]rune(name)), text})
	}
	if _, err := c.Token(); err != nil {
		return dst, err
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.order, b.order) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			if slices.Equal(m.order, members[i-1].order) {
				return dst, errors.New("a member appears twice in one object")
			}
			dst = append(dst, ',')
		}
		dst = append(dst, m.text...)
	}
	return append(dst, '}'), nil
}

// appendString quotes s with the escapes of RFC 8785 section 3.2.2.2.
func appendString(dst []byte, s string) []byte {
	const short = "\b\t\n\f\r"
	dst = append(dst, '"')
	for _, c := range []byte(s) {
		switch i := bytes.IndexByte([]byte(short), c); {
		case i >= 0:
			dst = append(dst, '\\', "btnfr"[i])
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// checkText finds what encoding/json would replace by U+FFFD, which would make
// different payloads equal: bytes that aren't UTF-8, and halves of surrogate pairs.
func checkText(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8")
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // the escaped character: a second backslash begins nothing
		first, ok := escapedUnit(text, i)
		if !ok || !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := escapedUnit(text, i+6)
		if !ok || text[i+5] != '\\' || utf16.DecodeRune(first, second) == utf8.RuneError {
			return errors.New("half of a surrogate pair")
		}
		i += 6
	}
	return nil
}

// escapedUnit reads uXXXX at text[i:].
func escapedUnit(text []byte, i int) (rune, bool) {
	if i+5 > len(text) || text[i] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range text[i+1 : i+5] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if digit < 0 || c < '0' {
			return 0, false
		}
		unit = unit<<4 | rune(digit)
	}
	return unit, true
}

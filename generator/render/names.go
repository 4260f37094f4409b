package render

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// goName is the exported Go name of a SQL or JSON name, in sqlc's way.
func goName(name string) string {
	var b strings.Builder
	parts := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, part := range parts {
		if strings.EqualFold(part, "id") {
			b.WriteString("ID")
			continue
		}
		b.WriteString(upperFirst(part))
	}
	out := b.String()
	if !token.IsExported(out) || !token.IsIdentifier(out) {
		return "X" + out // digits, and letters without case
	}
	return out
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// nameSet hands out names that are not taken yet.
type nameSet map[string]bool

// take returns the first free one of name, name2, name3 …
func (s nameSet) take(name string) string {
	free := name
	for i := 2; s[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	s[free] = true
	return free
}

package spec

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// where says in what kind of place a word stands: it decides which sources and
// words are allowed there, and how hints spell the word.
type where int

const (
	inQuery    where = iota // an annotation in SQL
	inEndpoint              // an endpoint of a spec
	inStep                  // a step of a spec
	inConfig                // idemgen.yaml
)

// args are the arguments of one word, cut into fields. The text is an
// annotation's rest or a YAML scalar: the grammar is the same.
type args struct {
	word   string
	where  where
	text   yamltree.Scalar
	wordAt diag.Pos // of the word itself
	fields []field
	next   int
	diags  *diag.List
	failed bool // a diagnostic was added for this word
}

// field is one argument: quotes, parentheses and what they hold stay together.
type field struct {
	text   string
	offset int
}

// newArgs cuts text into fields. It reports an open quote or parenthesis and
// returns false.
func newArgs(word string, in where, wordAt diag.Pos, text yamltree.Scalar, diags *diag.List) (*args, bool) {
	a := &args{word: word, where: in, text: text, wordAt: wordAt, diags: diags}
	s := text.Value
	for i := 0; i < len(s); {
		if isSpace(s[i]) {
			i++
			continue
		}
		end, open := fieldEnd(s, i)
		if open >= 0 {
			a.fail(diag.AnnotationForm, a.at(open, 1), "%q opens here and is never closed", s[open:open+1])
			return a, false
		}
		a.fields = append(a.fields, field{text: s[i:end], offset: i})
		i = end
	}
	return a, true
}

// fieldEnd returns where the field that begins at i ends, or the offset of a
// quote or parenthesis that stays open, else -1.
func fieldEnd(s string, i int) (end, open int) {
	var parens []int
	for i < len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			closing := quoteEnd(s, i)
			if closing < 0 {
				return len(s), i
			}
			i = closing
		case c == '(':
			parens = append(parens, i)
		case c == ')' && len(parens) > 0:
			parens = parens[:len(parens)-1]
		case isSpace(c) && len(parens) == 0:
			return i, -1
		}
		i++
	}
	if len(parens) > 0 {
		return len(s), parens[len(parens)-1]
	}
	return len(s), -1
}

// quoteEnd returns the offset of the quote that closes the one at i, or -1. A
// doubled quote stands for itself; in double quotes a backslash escapes.
func quoteEnd(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

// unquote returns the text of a field in double or single quotes, and whether
// it is one.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || quoteEnd(s, 0) != len(s)-1 {
		return "", false
	}
	quote, inner := s[:1], s[1:len(s)-1]
	inner = strings.ReplaceAll(inner, quote+quote, quote)
	if quote == "'" {
		return inner, true
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String(), true
}

// at is the place of width bytes at an offset of the text.
func (a *args) at(offset, width int) diag.Pos { return placeIn(a.text, offset, width) }

func placeIn(s yamltree.Scalar, offset, width int) diag.Pos {
	p := s.Pos
	if s.Exact {
		p.Col, p.Width = p.Col+offset, width
	}
	return p
}

func (a *args) pos(f field) diag.Pos { return a.at(f.offset, len(f.text)) }

// end is the place behind the last argument, where one is missing.
func (a *args) end() diag.Pos {
	n := len(strings.TrimRight(a.text.Value, " \t"))
	if n == 0 {
		return a.wordAt
	}
	return a.at(n, 1)
}

// take returns the next positional argument.
func (a *args) take() (field, bool) {
	if a.next >= len(a.fields) {
		return field{}, false
	}
	a.next++
	return a.fields[a.next-1], true
}

// need is take that reports a missing argument.
func (a *args) need(what string) (field, bool) {
	f, ok := a.take()
	if !ok {
		a.fail(diag.AnnotationForm, a.end(), "%s is missing %s", a.name(), what)
	}
	return f, ok
}

// rest reports every argument that nobody took.
func (a *args) rest() {
	if f, ok := a.take(); ok {
		a.fail(diag.AnnotationForm, a.pos(f), "%s has an argument too many: %s", a.name(), f.text)
	}
}

// name is the word as it is written where it stands.
func (a *args) name() string { return spelled(a.word, a.where) }

func spelled(word string, in where) string {
	if in == inQuery {
		return "@" + word
	}
	return "`" + word + ":`"
}

// written is the word with other arguments, as it is written where it stands.
func (a *args) written(arguments string) string {
	switch a.where {
	case inQuery:
		return "@" + a.word + " " + arguments
	case inConfig: // the key beside it is a method, a parameter …
		return arguments
	}
	return a.word + ": " + arguments
}

// fail adds an error whose hint is the word's form.
func (a *args) fail(code diag.Code, pos diag.Pos, format string, v ...any) *diag.Entry {
	a.failed = true
	entry := a.diags.Errorf(code, pos, format, v...)
	if form := formOf(a.word); form != "" && a.where == inQuery {
		entry.Hint("write @%s %s", a.word, form)
	} else if form != "" {
		entry.Hint("write %s: %s", a.word, form)
	}
	return entry
}

// named makes a Name of a field.
func (a *args) named(f field) Name { return Name{Value: f.text, Pos: a.pos(f)} }

// pair splits NAME=VALUE.
func (f field) pair() (name string, value field, ok bool) {
	i := strings.IndexByte(f.text, '=')
	if i < 1 || !isIdent(f.text[:i]) {
		return "", field{}, false
	}
	return f.text[:i], field{text: f.text[i+1:], offset: f.offset + i + 1}, true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isIdent reports whether s is a plain identifier: letters, digits and
// underscores, not a digit first.
func isIdent(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// isDotted reports whether every part of s between dots is an identifier.
func isDotted(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isIdent(part) {
			return false
		}
	}
	return true
}

package spec

import (
	"sort"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// kind is the class of a token of SQL.
type kind int

const (
	tokenOther        kind = iota
	tokenWord              // identifier or keyword
	tokenString            // '…', E'…', $$…$$
	tokenQuoted            // "…"
	tokenOperator          // a run of operator characters
	tokenSemicolon         // ;
	tokenLineComment       // -- …, without the line's end
	tokenBlockComment      // /* … */
)

type token struct {
	kind       kind
	start, end int
	closed     bool // strings and block comments: the end was found
}

func (t token) comment() bool { return t.kind == tokenLineComment || t.kind == tokenBlockComment }

// source text of a query file with its lines.
type sqlFile struct {
	name   string
	text   string
	starts []int // of each line
}

func newSQLFile(name, text string) *sqlFile {
	f := &sqlFile{name: name, text: text, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			f.starts = append(f.starts, i+1)
		}
	}
	return f
}

// line is the 0-based number of the line that holds offset.
func (f *sqlFile) line(offset int) int { return sort.SearchInts(f.starts, offset+1) - 1 }

// lineText is the text of a line without its end.
func (f *sqlFile) lineText(n int) string {
	end := len(f.text)
	if n+1 < len(f.starts) {
		end = f.starts[n+1] - 1
	}
	return strings.TrimSuffix(f.text[f.starts[n]:end], "\r")
}

func (f *sqlFile) pos(offset, width int) diag.Pos {
	n := f.line(offset)
	col := offset - f.starts[n]
	return diag.Pos{File: f.name, Line: n + 1, Col: col + 1, Width: max(min(width, len(f.lineText(n))-col), 0)}
}

// columnZero reports whether offset is the first of its line.
func (f *sqlFile) columnZero(offset int) bool { return offset == 0 || f.text[offset-1] == '\n' }

// lex cuts the text as PostgreSQL's lexer does, as far as strings, comments,
// operators and semicolons are concerned. White space is left out.
func (f *sqlFile) lex() []token {
	var out []token
	for i := 0; i < len(f.text); {
		if isSpace(f.text[i]) || f.text[i] == '\f' || f.text[i] == '\v' {
			i++
			continue
		}
		t := f.next(i)
		out = append(out, t)
		i = t.end
	}
	return out
}

func (f *sqlFile) next(i int) token {
	s := f.text
	c := s[i]
	switch {
	case strings.HasPrefix(s[i:], "--"):
		return token{tokenLineComment, i, lineEnd(s, i), true}
	case strings.HasPrefix(s[i:], "/*"):
		end, ok := blockEnd(s, i)
		return token{tokenBlockComment, i, end, ok}
	case c == '\'':
		return quoted(s, i, i, tokenString, false)
	case c == '"':
		return quoted(s, i, i, tokenQuoted, false)
	case (c == 'e' || c == 'E') && i+1 < len(s) && s[i+1] == '\'':
		return quoted(s, i, i+1, tokenString, true)
	case c == ';':
		return token{tokenSemicolon, i, i + 1, true}
	case c == '$':
		return dollar(s, i)
	case wordByte(c, true):
		end := i + 1
		for end < len(s) && wordByte(s[end], false) {
			end++
		}
		return token{tokenWord, i, end, true}
	case operatorByte(c):
		return token{tokenOperator, i, operatorEnd(s, i), true}
	}
	return token{tokenOther, i, i + 1, true}
}

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// blockEnd finds the end of a block comment; they nest.
func blockEnd(s string, i int) (int, bool) {
	depth := 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			i += 2
			if depth--; depth == 0 {
				return i, true
			}
		default:
			i++
		}
	}
	return len(s), false
}

func quoted(s string, start, open int, k kind, escapes bool) token {
	for i := open + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && escapes:
			i++
		case s[i] == s[open] && i+1 < len(s) && s[i+1] == s[open]:
			i++
		case s[i] == s[open]:
			return token{k, start, i + 1, true}
		}
	}
	return token{k, start, len(s), false}
}

// dollar reads $tag$…$tag$, or $1, or a lone dollar.
func dollar(s string, i int) token {
	end := i + 1
	for end < len(s) && wordByte(s[end], end == i+1) && s[end] != '$' {
		end++
	}
	if end < len(s) && s[end] == '$' {
		tag := s[i : end+1]
		if n := strings.Index(s[end+1:], tag); n >= 0 {
			return token{tokenString, i, end + 1 + n + len(tag), true}
		}
		return token{tokenString, i, len(s), false}
	}
	for end = i + 1; end < len(s) && s[end] >= '0' && s[end] <= '9'; end++ {
	}
	return token{tokenOther, i, end, true}
}

func wordByte(c byte, first bool) bool {
	letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	return letter || !first && (c >= '0' && c <= '9' || c == '$')
}

func operatorByte(c byte) bool { return strings.IndexByte("+-*/<>=~!@#%^&|`?", c) >= 0 }

// operatorEnd ends a run of operator characters, which a comment cuts.
func operatorEnd(s string, i int) int {
	for i < len(s) && operatorByte(s[i]) && !strings.HasPrefix(s[i:], "--") && !strings.HasPrefix(s[i:], "/*") {
		i++
	}
	return i
}

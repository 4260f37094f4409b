package sqltext

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/sqlc-dev/oliphant"
	"github.com/sqlc-dev/oliphant/parser"
)

// Span is a piece of the text, in bytes: text[Start:End].
type Span struct{ Start, End int }

// In is the text of the span.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// IsZero reports whether the span marks nothing.
func (s Span) IsZero() bool { return s == Span{} }

// TokenKind is the class of a token.
type TokenKind string

// The classes of tokens.
const (
	TokenComment TokenKind = "comment" // -- or /* */
	TokenParam   TokenKind = "param"   // $1
	TokenIdent   TokenKind = "ident"   // plain or quoted
	TokenKeyword TokenKind = "keyword"
	TokenString  TokenKind = "string" // any quoting, bit strings included
	TokenNumber  TokenKind = "number"
	TokenSymbol  TokenKind = "symbol" // operators and punctuation
)

// Token is one token of a text.
type Token struct {
	Span
	Kind TokenKind
	// Param is the n of $n, 0 for other kinds.
	Param int

	token   pg.Token
	keyword pg.KeywordKind
}

// Error is a text that the grammar refuses.
type Error struct {
	Message string
	Offset  int // in bytes, at most the length of the text
}

func (e *Error) Error() string { return e.Message }

// Tokens cuts a text into tokens, comments included. The error is an *Error:
// an unterminated string, comment or quoted name.
func Tokens(sql string) ([]Token, error) {
	result, err := pg.Scan(sql)
	if err != nil {
		return nil, wrapError(sql, err)
	}
	out := make([]Token, 0, len(result.Tokens))
	for _, t := range result.Tokens {
		token := Token{Span: Span{int(t.Start), int(t.End)}, token: t.Token, keyword: t.KeywordKind}
		token.Kind = kindOf(t)
		if token.Kind == TokenParam {
			token.Param, _ = strconv.Atoi(sql[t.Start+1 : t.End])
		}
		out = append(out, token)
	}
	return out, nil
}

func kindOf(t *pg.ScanToken) TokenKind {
	switch t.Token {
	case pg.Token_SQL_COMMENT, pg.Token_C_COMMENT:
		return TokenComment
	case pg.Token_PARAM:
		return TokenParam
	case pg.Token_IDENT, pg.Token_UIDENT:
		return TokenIdent
	case pg.Token_SCONST, pg.Token_USCONST, pg.Token_BCONST, pg.Token_XCONST:
		return TokenString
	case pg.Token_ICONST, pg.Token_FCONST:
		return TokenNumber
	}
	if t.KeywordKind != pg.KeywordKind_NO_KEYWORD {
		return TokenKeyword
	}
	return TokenSymbol
}

// wrapError turns the parser's error, which counts characters from 1, into one
// that counts bytes from 0.
func wrapError(sql string, err error) *Error {
	var e *parser.Error
	if !errors.As(err, &e) {
		return &Error{Message: err.Error()}
	}
	offset := 0
	for i := 1; i < e.Cursorpos && offset < len(sql); i++ {
		_, size := utf8.DecodeRuneInString(sql[offset:])
		offset += size
	}
	return &Error{Message: e.Message, Offset: offset}
}

// ReplaceParams puts a text in the place of every parameter. A text that can't
// be cut into tokens comes back as it is.
func ReplaceParams(sql string, replacement func(n int) string) string {
	if !strings.Contains(sql, "$") {
		return sql
	}
	tokens, err := Tokens(sql)
	if err != nil {
		return sql
	}
	var b strings.Builder
	last := 0
	for _, t := range tokens {
		if t.Kind != TokenParam {
			continue
		}
		b.WriteString(sql[last:t.Start])
		b.WriteString(replacement(t.Param))
		last = t.End
	}
	b.WriteString(sql[last:])
	return b.String()
}

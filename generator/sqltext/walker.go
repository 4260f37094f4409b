package sqltext

import (
	pg "github.com/sqlc-dev/oliphant"
)

// walker goes over the tokens of a statement, remembering what it could not
// find in failed.
type walker struct {
	text   string
	tokens []Token
	at     int
	failed string
}

func (w *walker) fail(what string) {
	if w.failed == "" {
		w.failed = what
	}
}

func (w *walker) done() bool { return w.at >= len(w.tokens) }

// token is the current token; at the end one that equals no other.
func (w *walker) token() Token { return w.peek(0) }

func (w *walker) peek(n int) Token {
	if w.at+n < 0 || w.at+n >= len(w.tokens) {
		return Token{Span: Span{len(w.text), len(w.text)}}
	}
	return w.tokens[w.at+n]
}

func (w *walker) is(kind pg.Token) bool { return !w.done() && w.token().token == kind }

// skip passes the current token if it is of this kind.
func (w *walker) skip(kind pg.Token) bool {
	if !w.is(kind) {
		return false
	}
	w.at++
	return true
}

// end is where the last passed token ends.
func (w *walker) end() int { return w.peek(-1).End }

// next passes one token, or a whole group if it opens one.
func (w *walker) next() {
	depth := 0
	for !w.done() {
		switch w.token().token {
		case pg.Token_ASCII_40, pg.Token_ASCII_91:
			depth++
		case pg.Token_ASCII_41, pg.Token_ASCII_93:
			depth--
		}
		w.at++
		if depth <= 0 {
			return
		}
	}
}

// group passes a parenthesised group and returns its span with parentheses.
func (w *walker) group(what string) Span {
	if !w.is(pg.Token_ASCII_40) {
		w.fail(what)
		return Span{}
	}
	start := w.token().Start
	w.next()
	return Span{start, w.end()}
}

// isClause reports whether the current token is this keyword in its own
// meaning: after AS or a dot it is a name.
func (w *walker) isClause(kind pg.Token) bool {
	if !w.is(kind) {
		return false
	}
	if w.at == 0 {
		return true
	}
	before := w.tokens[w.at-1].token
	return before != pg.Token_AS && before != pg.Token_ASCII_46
}

// startsWith reports whether the statement begins with WITH. A select in
// parentheses may have one inside, which then isn't at the top level.
func startsWith(w *walker) bool { return w.is(pg.Token_WITH) }

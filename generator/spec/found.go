package spec

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// found is one annotation as it stands in the file.
type found struct {
	word   string
	wordAt diag.Pos // of @word
	args   yamltree.Scalar
	sloppy string // how it should be written, if it only looks like an annotation
}

// annotation reads t as an annotation, or as something that its author took
// for one.
func (r *chunkReader) annotation(t token) (found, bool) {
	if !t.comment() {
		return found{}, false
	}
	text := r.text(t)
	at := strings.IndexFunc(text, func(c rune) bool { return !strings.ContainsRune("-/* \t\r\n", c) })
	if at < 0 || text[at] != '@' {
		return found{}, false
	}
	begin, end := wordBehind(text, at)
	a := found{word: text[begin:end], wordAt: r.file.pos(t.start+at, end-at)}
	rest, lead := text[end:], 0
	for lead < len(rest) && isSpace(rest[lead]) {
		lead++
	}
	a.args = yamltree.Scalar{Value: strings.TrimRight(rest[lead:], " \t"), Exact: true}
	a.args.Pos = r.file.pos(t.start+end+lead, len(a.args.Value))
	switch word, known := spelling(a.word); {
	case t.kind == tokenBlockComment:
		a.sloppy = "stands in a comment of two dashes"
	case !r.file.columnZero(t.start):
		a.sloppy = "stands at the beginning of its line"
	case !isSpace(text[2]) || strings.Trim(text[2:at], " \t") != "":
		a.sloppy = "stands as two dashes, a space and the word"
	case begin > at+1:
		a.sloppy = "has no space behind the @"
	case known && word != a.word:
		a.sloppy = "is written in lower-case letters, with a space behind it"
	}
	if a.sloppy != "" {
		a.word, _ = spelling(a.word)
	}
	return a, a.word != ""
}

// wordBehind finds the word of the @ at an offset: what follows up to a space,
// or the next word, where that is one of ours.
func wordBehind(text string, at int) (begin, end int) {
	begin = at + 1
	next := begin
	for next < len(text) && isSpace(text[next]) {
		next++
	}
	end = next
	for end < len(text) && !isSpace(text[end]) {
		end++
	}
	if next == begin {
		return begin, end
	}
	if _, ours := spelling(text[next:end]); ours {
		return next, end
	}
	return begin, begin
}

// spelling is how a word of ours is written, where that is told by its letters:
// letter case and what is glued to it apart, as in @HTTP and @key:header.
func spelling(word string) (string, bool) {
	if i := strings.IndexAny(word, ":=("); i > 0 {
		word = word[:i]
	}
	lower := strings.ToLower(word)
	if _, ours := lookup(lower); ours {
		return lower, true
	}
	return word, false
}

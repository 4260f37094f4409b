package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// ParseQueryFile reads a sqlc query file: its queries, their annotations and
// descriptions, and what sqlc would change silently. It follows sqlc in which
// comments belong to which query: those between the previous semicolon and its
// own.
func ParseQueryFile(file, text string, diags *diag.List) []*QueryDecl {
	f := newSQLFile(file, text)
	var decls []*QueryDecl
	for _, c := range chunks(f.lex()) {
		r := &chunkReader{file: f, tokens: c, diags: diags}
		if d := r.read(); d != nil {
			decls = append(decls, d)
		}
	}
	return decls
}

// chunks cuts the tokens behind each semicolon.
func chunks(tokens []token) [][]token {
	var out [][]token
	start := 0
	for i, t := range tokens {
		if t.kind == tokenSemicolon {
			out = append(out, tokens[start:i+1])
			start = i + 1
		}
	}
	if start < len(tokens) {
		out = append(out, tokens[start:])
	}
	return out
}

// chunkReader reads the text of one statement with the comments before it.
type chunkReader struct {
	file   *sqlFile
	tokens []token
	diags  *diag.List
	head   int  // index of the -- name: comment, -1 if there is none
	body   int  // index of the first token that is no comment; len(tokens) if none
	almost bool // a comment that was meant as the name is reported
	decl   *QueryDecl
	firsts map[string]diag.Pos // where words that stand once stand

	reported map[int]bool // offsets in the file of what sqlc would change
}

func (r *chunkReader) read() *QueryDecl {
	r.body = slices.IndexFunc(r.tokens, func(t token) bool { return !t.comment() })
	if r.body < 0 {
		r.body = len(r.tokens)
	}
	if !r.closed() {
		return nil
	}
	r.head = slices.IndexFunc(r.tokens, r.isHead)
	r.misplacedHeads()
	r.hiddenHeads()
	if r.head < 0 {
		if !r.almost {
			r.orphans(r.tokens)
		}
		return nil
	}
	if !r.readHead() {
		return nil
	}
	r.orphans(r.tokens[:r.head])
	r.annotations()
	r.describe()
	if !r.statement() {
		return nil
	}
	r.corruption()
	r.brokenParams()
	r.unsupported()
	return r.decl
}

// closed reports a string or comment without an end: nothing behind it can be
// understood.
func (r *chunkReader) closed() bool {
	last := r.tokens[len(r.tokens)-1]
	if last.closed {
		return true
	}
	what, hint := "string", "close it; a quote inside a string is doubled: 'it''s'"
	if last.kind == tokenBlockComment {
		what, hint = "block comment", "close it with */; block comments nest"
	}
	r.diags.Errorf(diag.QuerySyntax, r.file.pos(last.start, 2), "this %s is never closed", what).Hint("%s", hint)
	return false
}

func (r *chunkReader) text(t token) string {
	return strings.TrimSuffix(r.file.text[t.start:t.end], "\r")
}

// isHead reports whether t is the comment that names a query, well formed or
// not: in column 0, `-- name:` or `/* name:`.
func (r *chunkReader) isHead(t token) bool {
	return t.comment() && r.file.columnZero(t.start) && looksLikeHead(r.text(t))
}

// looksLikeHead is sqlc's rule: the first line begins with name and has a colon.
func looksLikeHead(comment string) bool {
	line, _, _ := strings.Cut(comment, "\n")
	rest, _ := strings.CutPrefix(strings.TrimSpace(line[2:]), "name")
	return strings.HasPrefix(strings.TrimSpace(line[2:]), "name") && strings.HasPrefix(strings.TrimSpace(rest), ":")
}

// wholeHead reports whether a comment has a name and a command.
func wholeHead(comment string) bool {
	fields := strings.Fields(comment)
	return len(fields) >= 4 && strings.HasPrefix(fields[3], ":")
}

// misplacedHeads reports names that sqlc does not see, or sees by mistake.
func (r *chunkReader) misplacedHeads() {
	for i, t := range r.tokens {
		if !t.comment() || i == r.head {
			continue
		}
		switch {
		case r.isHead(t) && !wholeHead(r.text(t)): // prose that begins with the word name
		case r.isHead(t) && i > r.body && r.body > r.head:
			r.diags.Errorf(diag.QuerySyntax, r.file.pos(t.start, len(r.text(t))), "the statement before this line has no semicolon").
				Hint("end it with ; so that this line begins the next query")
		case r.isHead(t):
			r.diags.Errorf(diag.AnnotationForm, r.file.pos(t.start, len(r.text(t))), "a second name for one statement").
				Hint("keep one `-- name:` line before each statement")
		case t.kind == tokenLineComment && !r.file.columnZero(t.start) && looksLikeHead(r.text(t)):
			r.diags.Errorf(diag.AnnotationForm, r.file.pos(t.start, len(r.text(t))), "sqlc does not see a name that is not at the beginning of its line").
				Hint("move `-- name:` to column 1")
		case r.isAlmostHead(t):
			r.almost = true
			r.diags.Errorf(diag.AnnotationForm, r.file.pos(t.start, len(r.text(t))), "sqlc does not see this name: it looks for `-- name:` in lower-case letters").
				Hint("write -- name: %s", strings.Join(almostHead.FindStringSubmatch(r.text(t))[1:], " "))
		}
	}
}

// almostHead matches a name line in capitals or without its colon.
var almostHead = regexp.MustCompile(`(?i)^--\s*name\s*[:=]?\s*(\w+)\s+(:[a-z]+)\s*$`)

func (r *chunkReader) isAlmostHead(t token) bool {
	return r.file.columnZero(t.start) && !looksLikeHead(r.text(t)) && almostHead.MatchString(r.text(t))
}

var commands = []string{":one", ":many", ":exec", ":execrows", ":execresult", ":execlastid", ":copyfrom", ":batchexec", ":batchmany", ":batchone"}

// readHead reads the name and command: four words between single spaces.
func (r *chunkReader) readHead() bool {
	t := r.tokens[r.head]
	line := strings.TrimSpace(r.text(t))
	pos := r.file.pos(t.start, len(line))
	parts := strings.Split(line, " ")
	if t.kind == tokenBlockComment && parts[len(parts)-1] == "*/" {
		parts = parts[:len(parts)-1]
	}
	bad := func(pos diag.Pos, format string, v ...any) bool {
		r.diags.Errorf(diag.AnnotationForm, pos, format, v...).Hint("write -- name: CreatePayment :one")
		return false
	}
	switch {
	case len(parts) == 3 && parts[1] == "name:":
		return bad(pos, "the query has no command")
	case len(parts) != 4 || parts[1] != "name:":
		return bad(pos, "a query's name line has exactly four words with one space between them")
	case !isIdent(parts[2]):
		return bad(r.file.pos(t.start+9, len(parts[2])), "%q is not the name of a query", parts[2])
	case !slices.Contains(commands, parts[3]):
		r.badCommand(r.file.pos(t.start+10+len(parts[2]), len(parts[3])), parts[3])
		return false
	}
	r.decl = &QueryDecl{Name: parts[2], Command: parts[3], File: r.file.name, Pos: pos}
	return true
}

func (r *chunkReader) badCommand(pos diag.Pos, command string) {
	entry := r.diags.Errorf(diag.AnnotationForm, pos, "unknown command %s", command)
	if near := diag.Nearest(command, commands); near != "" {
		entry.Hint("did you mean %s?", near)
	} else {
		entry.Hint("commands are %s", strings.Join(commands, " "))
	}
}

// orphans reports annotations that belong to no query, or that stand above the
// name line of theirs, where they are easily taken for the previous query's.
func (r *chunkReader) orphans(tokens []token) {
	for _, t := range tokens {
		a, ok := r.annotation(t)
		if _, ours := lookup(a.word); !ok || !ours {
			continue
		}
		if r.head < 0 {
			r.diags.Errorf(diag.AnnotationForm, a.wordAt, "@%s belongs to no query: text behind a semicolon belongs to the next one, and there is none with a name", a.word).
				Hint("move it above the semicolon, below the query's `-- name:` line")
			continue
		}
		r.diags.Errorf(diag.AnnotationForm, a.wordAt, "@%s stands above the `-- name:` line of %s", a.word, r.headName()).
			Hint("move it below that line; if it was meant for the query before, move it above that query's semicolon")
	}
}

// headName is the name on the query's name line, for messages.
func (r *chunkReader) headName() string {
	if fields := strings.Fields(r.text(r.tokens[r.head])); len(fields) > 2 {
		return fields[2]
	}
	return "the query"
}

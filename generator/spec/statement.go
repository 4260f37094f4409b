package spec

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// statement finds the query's SQL; it reports a query without one, and one
// without a semicolon, which sqlc refuses or takes together with the next.
func (r *chunkReader) statement() bool {
	if r.body < r.head {
		r.diags.Errorf(diag.AnnotationForm, r.decl.Pos, "the name line of %s stands behind the beginning of its statement", r.decl.Name).
			Hint("move the `-- name:` line above the statement, and end the statement before with ;")
		return false
	}
	last := r.tokens[len(r.tokens)-1]
	if r.body >= len(r.tokens) || r.tokens[r.body].kind == tokenSemicolon {
		r.diags.Errorf(diag.QuerySyntax, r.decl.Pos, "query %s has no statement", r.decl.Name).
			Hint("write its SQL below, ending with ;")
		return false
	}
	if last.kind != tokenSemicolon {
		end := r.lastOfStatement()
		r.diags.Errorf(diag.QuerySyntax, r.file.pos(end.end-1, 1), "the statement of %s has no semicolon at its end", r.decl.Name).
			Hint("end it with ;")
		return false
	}
	first := r.tokens[r.body]
	line := r.file.line(first.start)
	// Columns of the text are columns of the file: what stands before the first
	// token in its line is blanked, not cut.
	before := strings.Map(func(c rune) rune {
		if c == '\t' {
			return c
		}
		return ' '
	}, asBytes(r.file.text[r.file.starts[line]:first.start]))
	r.decl.SQL = SQL{Text: before + r.file.text[first.start:last.start], Line: line + 1}
	return true
}

// asBytes replaces each byte of a wide character, so that columns stay.
func asBytes(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] >= 0x80 {
			b[i] = ' '
		}
	}
	return string(b)
}

func (r *chunkReader) lastOfStatement() token {
	for i := len(r.tokens) - 1; ; i-- {
		if !r.tokens[i].comment() {
			return r.tokens[i]
		}
	}
}

// hiddenHeads reports name lines inside block comments that sqlc, which looks
// at lines only, takes for the name of the statement below.
func (r *chunkReader) hiddenHeads() {
	if r.body >= len(r.tokens) {
		return
	}
	end := r.head
	if end < 0 {
		end = r.body
	}
	for _, t := range r.tokens[:end] {
		if t.kind != tokenBlockComment {
			continue
		}
		for _, n := range r.innerLines(t) {
			line := r.file.lineText(n)
			if dashed := strings.HasPrefix(line, "--") || strings.HasPrefix(line, "/*"); dashed && looksLikeHead(line) {
				r.diags.Errorf(diag.QueryCorrupt, r.file.pos(r.file.starts[n], len(line)), "sqlc takes this line, though in a block comment, for the name of the statement below").
					Hint("indent the lines of the comment, or remove it")
			}
		}
	}
}

// innerLines are the lines that begin inside t.
func (r *chunkReader) innerLines(t token) []int {
	var out []int
	for n := r.file.line(t.start) + 1; n < len(r.file.starts) && r.file.starts[n] < t.end; n++ {
		out = append(out, n)
	}
	return out
}

// corruption reports what sqlc changes without a word. It drops each line that
// begins with -- or #, and each that begins with /* and ends with */, whatever
// they stand in; and it reads =@x as an operator.
func (r *chunkReader) corruption() {
	for i, t := range r.tokens {
		switch {
		case i <= r.head:
		case t.kind == tokenString || t.kind == tokenQuoted:
			r.droppedFromString(t)
		case t.kind == tokenBlockComment:
			r.droppedAround(t)
		case t.kind == tokenOperator:
			r.operator(t, i)
		}
	}
}

// dropped reports whether sqlc removes a line with this text.
func dropped(line string) bool {
	return strings.HasPrefix(line, "--") || strings.HasPrefix(line, "#") ||
		strings.HasPrefix(line, "/*") && !strings.HasPrefix(line, "/*+") && strings.HasSuffix(line, "*/")
}

func (r *chunkReader) corrupt(offset, width int, message, hint string) {
	if r.reported == nil {
		r.reported = map[int]bool{}
	}
	r.reported[offset] = true
	r.diags.Errorf(diag.QueryCorrupt, r.file.pos(offset, width), "%s", message).Hint("%s", hint)
}

func (r *chunkReader) droppedFromString(t token) {
	for _, n := range r.innerLines(t) {
		if line := r.file.lineText(n); dropped(line) {
			r.corrupt(r.file.starts[n], len(line), "sqlc would remove this line from the text that it stands in",
				`join it to the line above with \n in an E'…' string, or indent it`)
		}
	}
}

// droppedAround reports a block comment whose last line, or whose neighbours on
// its line, sqlc would remove.
func (r *chunkReader) droppedAround(t token) {
	if first := r.file.line(t.start); r.file.columnZero(t.start) {
		line := r.file.lineText(first)
		if dropped(line) && t.end != r.file.starts[first]+len(line) {
			r.corrupt(t.start, len(line), "sqlc would remove this whole line: it begins with /* and ends with */",
				"indent the line, or put the comment on a line of its own")
		}
	}
	for _, n := range r.innerLines(t) {
		line := r.file.lineText(n)
		if ends := t.end <= r.file.starts[n]+len(line); ends && dropped(line) {
			r.corrupt(r.file.starts[n], len(line), "sqlc would remove this line, and with it the end of the comment",
				"indent the line")
		}
	}
}

// operator reports an operator at the beginning of a line that sqlc drops, and
// one that swallowed the @ of a parameter.
func (r *chunkReader) operator(t token, index int) {
	text := r.text(t)
	if text[0] == '#' && r.file.columnZero(t.start) {
		r.corrupt(t.start, len(r.file.lineText(r.file.line(t.start))), "sqlc takes a line that begins with # for a comment and would remove it",
			"end the line above with "+text+", or indent this line")
		return
	}
	if text == "@" {
		r.parameter(t, index)
		return
	}
	if len(text) < 2 || text[len(text)-1] != '@' || strings.Trim(text, "@") == "" || index+1 >= len(r.tokens) {
		return
	}
	if next := r.tokens[index+1]; next.kind == tokenWord && next.start == t.end {
		name := r.text(next)
		r.corrupt(t.start, len(text)+len(name), "PostgreSQL reads "+text+" as one operator, so sqlc does not see the parameter @"+name,
			"put a space before it: "+text[:len(text)-1]+" @"+name+"; parentheses around @"+name+" where it is computed with")
	}
}

// unsupported reports SQL that sqlc accepts and that can't work.
func (r *chunkReader) unsupported() {
	body := r.tokens[r.body:]
	for i, t := range body {
		if t.kind != tokenWord {
			continue
		}
		switch word := strings.ToLower(r.text(t)); {
		case word == "sqlc" && r.follows(body[i+1:], ".", "slice"):
			r.diags.Errorf(diag.QueryUnsupport, r.file.pos(t.start, len("sqlc.slice")), "sqlc.slice does not work with pgx").
				Hint("use an array: = ANY(@ids::bigint[])")
		case word == "merge" && r.follows(body[i+1:], "into") && (r.decl.Annotated || r.hasParameters()):
			r.diags.Errorf(diag.QueryUnsupport, r.file.pos(t.start, len(word)), "sqlc does not see the parameters of MERGE").
				Hint("use INSERT … ON CONFLICT … DO UPDATE")
		}
	}
}

// follows reports whether tokens begin with these texts.
func (r *chunkReader) follows(tokens []token, texts ...string) bool {
	for i, text := range texts {
		if i >= len(tokens) || !strings.EqualFold(r.text(tokens[i]), text) {
			return false
		}
	}
	return true
}

// hasParameters reports whether the statement has a parameter by name.
func (r *chunkReader) hasParameters() bool {
	for i, t := range r.tokens[r.body:] {
		text := r.text(t)
		rest := r.tokens[r.body+i+1:]
		if t.kind == tokenOperator && text[len(text)-1] == '@' && len(rest) > 0 && rest[0].kind == tokenWord ||
			strings.EqualFold(text, "sqlc") && (r.follows(rest, ".", "arg") || r.follows(rest, ".", "narg")) {
			return true
		}
	}
	return false
}

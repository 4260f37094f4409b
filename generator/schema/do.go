package schema

import (
	"slices"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// applyDo applies the DDL inside a DO block: the usual `BEGIN CREATE TYPE …
// EXCEPTION WHEN duplicate_object`, and `IF NOT EXISTS (…) THEN …`. Blocks
// that decide in other ways what they change are refused, since nobody can
// know what the tables look like afterwards.
func (b *builder) applyDo(stmt *pg.DoStmt, span sqltext.Span, text string) {
	body, offset := doBody(stmt, span, text)
	if body == "" || !mentionsDDL(body) {
		b.opaque = b.opaque || b.callsOwn(body)
		return
	}
	block, err := readBlock(body)
	if err == nil && block.problem != "" {
		b.refuseDo(offset+block.problemAt, block.problem)
		return
	}
	if err != nil {
		b.refuseDo(offset, err.Error())
		return
	}
	base, guarded := b.base, b.guarded
	b.guarded = true
	for _, ddl := range block.statements {
		b.base = base + offset + ddl.offset
		b.applyText(ddl.text)
	}
	b.base, b.guarded = base, guarded
}

// callsOwn reports whether a body names a function that migrations make, or
// makes up statements: either may make tables.
func (b *builder) callsOwn(body string) bool {
	words := strings.FieldsFunc(strings.ToLower(body), func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_' && (r < '0' || r > '9')
	})
	return slices.ContainsFunc(words, func(w string) bool { return w == "execute" || b.cat.functions[w] })
}

func (b *builder) refuseDo(offset int, why string) {
	b.opaque = true
	b.diags.Errorf(diag.MigrationForm, b.pos(offset, 0), "this DO block changes tables or types in a way that can't be followed: %s", why).
		Hint("write the statement itself, with IF NOT EXISTS where it may have run before, or BEGIN … EXCEPTION WHEN duplicate_object THEN NULL")
}

// doBody is the block's text and where it begins.
func doBody(stmt *pg.DoStmt, span sqltext.Span, text string) (string, int) {
	for _, n := range stmt.Args {
		e := n.GetDefElem()
		if e.GetDefname() != "as" {
			continue
		}
		body := e.GetArg().GetString_().GetSval()
		if i := strings.Index(span.In(text), body); i >= 0 {
			return body, span.Start + i
		}
		return body, span.Start
	}
	return "", 0
}

// ddlObjects are the kinds of object that matter to the catalog.
var ddlObjects = map[string]bool{
	"TYPE": true, "TABLE": true, "DOMAIN": true, "INDEX": true, "UNIQUE": true, "VIEW": true, "TRIGGER": true,
	"RULE": true, "SCHEMA": true, "CONSTRAINT": true, "MATERIALIZED": true, "UNLOGGED": true, "OR": true, "FOREIGN": true,
}

// mentionsDDL reports whether a text, strings inside it included, makes or
// changes an object that matters.
func mentionsDDL(body string) bool {
	words := strings.FieldsFunc(strings.ToUpper(body), func(r rune) bool {
		return (r < 'A' || r > 'Z') && r != '_' && (r < '0' || r > '9')
	})
	for i := 0; i+1 < len(words); i++ {
		switch words[i] {
		case "CREATE", "ALTER", "DROP":
			if ddlObjects[words[i+1]] {
				return true
			}
		}
	}
	return false
}

// innerStatement is a statement inside a block.
type innerStatement struct {
	text   string
	offset int
}

// block is what a DO block does to the catalog.
type block struct {
	statements []innerStatement
	problem    string // why it can't be followed
	problemAt  int
}

// readBlock finds the DDL statements of a PL/pgSQL block.
func readBlock(body string) (*block, error) {
	tokens, err := sqltext.Tokens(body)
	if err != nil {
		return nil, err
	}
	r := &blockReader{text: body, block: &block{}}
	for _, t := range tokens {
		if t.Kind != sqltext.TokenComment {
			r.tokens = append(r.tokens, t)
		}
	}
	for r.at < len(r.tokens) && r.block.problem == "" {
		r.statement()
	}
	return r.block, nil
}

// blockReader goes over the tokens of a block. Each open BEGIN, IF, LOOP and
// CASE says why a statement inside it can't be followed, "" if it can.
type blockReader struct {
	text   string
	tokens []sqltext.Token
	at     int
	block  *block
	open   []string
}

func (r *blockReader) word(i int) string {
	if i >= len(r.tokens) {
		return ""
	}
	return strings.ToUpper(r.tokens[i].In(r.text))
}

func (r *blockReader) refuse(at int, why string) {
	if r.block.problem == "" {
		r.block.problem, r.block.problemAt = why, r.tokens[at].Start
	}
}

func (r *blockReader) enter(why string) { r.open = append(r.open, why) }

// now says that the rest of the innermost block can't be followed.
func (r *blockReader) now(why string) {
	if n := len(r.open); n > 0 {
		r.open[n-1] = why
	}
}

// statement passes one statement or block word.
func (r *blockReader) statement() {
	start := r.at
	switch r.word(start) {
	case "BEGIN":
		r.enter("")
		r.at++
	case "EXCEPTION":
		r.now("it stands in an exception handler")
		r.at++
	case "IF":
		r.skipTo("THEN")
		why := "it depends on a condition"
		if guards(r.text[r.tokens[start].Start:r.tokens[r.at-1].End]) {
			why = ""
		}
		r.enter(why)
	case "ELSE":
		r.now("it depends on a condition")
		r.at++
	case "WHEN", "ELSIF", "ELSEIF":
		if r.word(start) != "WHEN" { // of a handler or CASE, which say so already
			r.now("it depends on a condition")
		}
		r.skipTo("THEN")
	case "CASE":
		r.enter("it depends on a condition")
		r.skipTo("THEN")
	case "FOR", "FOREACH", "WHILE", "LOOP":
		r.enter("it stands in a loop")
		r.skipTo("LOOP")
	case "END":
		if n := len(r.open); n > 0 {
			r.open = r.open[:n-1]
		}
		r.skipTo(";")
	case ";":
		r.at++
	default:
		r.skipTo(";")
		r.take(start)
	}
}

// guards reports whether a condition only asks whether something exists.
func guards(condition string) bool {
	c := strings.ToLower(condition)
	return strings.Contains(c, "exists") || strings.Contains(c, "to_reg")
}

// skipTo passes all up to and including a word outside parentheses.
func (r *blockReader) skipTo(word string) {
	depth := 0
	for r.at < len(r.tokens) {
		w := r.word(r.at)
		r.at++
		switch {
		case w == "(":
			depth++
		case w == ")":
			depth--
		case w == word && depth <= 0:
			return
		}
	}
}

// take keeps a statement if it is DDL, and refuses DDL that is made up at run
// time or stands where it may not run.
func (r *blockReader) take(start int) {
	text := r.text[r.tokens[start].Start:r.tokens[r.at-1].End]
	if r.word(start) == "RAISE" || !mentionsDDL(text) {
		return
	}
	offset := r.tokens[start].Start
	switch r.word(start) {
	case "CREATE", "ALTER", "DROP":
	case "EXECUTE":
		if r.at != start+3 || r.tokens[start+1].Kind != sqltext.TokenString {
			r.refuse(start, "it makes up its statement")
			return
		}
		text, offset = literal(r.tokens[start+1].In(r.text), r.tokens[start+1].Start)
	default:
		r.refuse(start, "it makes up its statement")
		return
	}
	for _, why := range r.open {
		if why != "" {
			r.refuse(start, why)
			return
		}
	}
	r.block.statements = append(r.block.statements, innerStatement{text, offset})
}

// literal is the value of a string constant and where it begins; escapes in
// E strings are left to the parser's error.
func literal(token string, at int) (string, int) {
	if strings.HasPrefix(token, "$") {
		tag := strings.Index(token[1:], "$") + 2
		return token[tag : len(token)-tag], at + tag
	}
	start := strings.Index(token, "'") + 1
	return strings.ReplaceAll(token[start:len(token)-1], "''", "'"), at + start
}

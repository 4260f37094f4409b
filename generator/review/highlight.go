package review

import (
	"html"
	"html/template"
	"strings"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// highlightSQL marks keywords, strings, comments, numbers and parameters. A text
// that can't be cut into tokens stays plain.
func highlightSQL(text string) template.HTML {
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	tokens, err := sqltext.Tokens(text)
	if err != nil {
		return template.HTML(html.EscapeString(text))
	}
	classes := map[sqltext.TokenKind]string{
		sqltext.TokenKeyword: "k", sqltext.TokenString: "s", sqltext.TokenComment: "c", sqltext.TokenNumber: "n", sqltext.TokenParam: "p",
	}
	var b strings.Builder
	last := 0
	for _, t := range tokens {
		b.WriteString(html.EscapeString(text[last:t.Start]))
		word := html.EscapeString(t.In(text))
		if class := classes[t.Kind]; class != "" {
			word = `<span class="` + class + `">` + word + `</span>`
		}
		b.WriteString(word)
		last = t.End
	}
	b.WriteString(html.EscapeString(text[last:]))
	return template.HTML(b.String())
}

// highlightDiff marks the lines of a unified diff by elements that say what
// they are without colour too.
func highlightDiff(text string) template.HTML {
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	const head = 3 // lines; further down, --- is a comment of SQL that is gone
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		plain := html.EscapeString(line)
		switch {
		case i < head || strings.HasPrefix(line, "@@"):
			plain = `<span class="c">` + plain + `</span>`
		case strings.HasPrefix(line, "+"):
			plain = "<ins>" + plain + "</ins>"
		case strings.HasPrefix(line, "-"):
			plain = "<del>" + plain + "</del>"
		}
		b.WriteString(plain + "\n")
	}
	return template.HTML(b.String())
}

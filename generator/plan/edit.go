package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/sqltext"
)

// edit puts Text in the place of a span; an empty span inserts.
type edit struct {
	sqltext.Span
	Text string
}

// apply makes edits in the part of text that span marks. Edits must not
// overlap; those outside of span are an error of the caller.
func apply(text string, span sqltext.Span, edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.Start - b.Start })
	var b strings.Builder
	at := span.Start
	for _, e := range edits {
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(text[at:span.End])
	return b.String()
}

// indent moves every line of sql to the right, the first one too. Line ends
// inside strings, quoted names and block comments belong to the user's text
// and stay as they are.
func indent(sql, by string) string {
	if endsLines(sql) {
		return indentLines(sql, by)
	}
	inside := func(int) bool { return false }
	if tokens, err := sqltext.Tokens(sql); err == nil {
		inside = func(at int) bool {
			return slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Start < at && at < t.End })
		}
	}
	var b strings.Builder
	b.WriteString(by)
	for i := 0; i < len(sql); i++ {
		b.WriteByte(sql[i])
		if sql[i] == '\n' && i+1 < len(sql) && sql[i+1] != '\n' && !inside(i) {
			b.WriteString(by)
		}
	}
	return b.String()
}

func indentLines(sql, by string) string {
	var b strings.Builder
	for line := range strings.Lines(sql) {
		if line != "\n" || b.Len() == 0 {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// endsLines reports whether it is plain at a glance that no token of sql goes on
// behind the end of a line: then the lines need no look at the tokens, which is
// most of the time that planning takes.
func endsLines(sql string) bool {
	if strings.Contains(sql, "/*") || dollarQuote.MatchString(sql) || strings.HasSuffix(sql, "\n") {
		return false
	}
	for line := range strings.Lines(sql) {
		if strings.Count(line, "'")%2 != 0 || strings.Count(line, `"`)%2 != 0 {
			return false
		}
	}
	return true
}

var dollarQuote = regexp.MustCompile(`\$[A-Za-z_\x80-\xff$]`)

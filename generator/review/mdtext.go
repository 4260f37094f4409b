package review

import (
	"strings"
	"unicode"
)

// mdSpecial are the characters that mean something in Markdown or HTML.
const mdSpecial = "\\`*_{}[]<>#|&~@"

// mdText is a text of the user's as Markdown shows it, in a table too. A
// character reference in place of @ does not keep GitHub from telling a person
// of that name; a zero-width space behind it does.
func mdText(s string) string {
	var b strings.Builder
	runes := []rune(oneLine(s))
	for i, r := range runes {
		switch {
		case r == '_' && i > 0 && i+1 < len(runes) && isWord(runes[i-1]) && isWord(runes[i+1]):
			b.WriteRune(r) // inside a word it means nothing
		case r == '<' || r == '>' || r == '&':
			b.WriteString(map[rune]string{'<': "&lt;", '>': "&gt;", '&': "&amp;"}[r])
		case r == '@':
			b.WriteString("@\u200b")
		case strings.ContainsRune(mdSpecial, r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// mdCode is a code span; in a table a bar is written \|.
func mdCode(s string) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		pad = " "
	}
	return ticks + pad + strings.ReplaceAll(s, "|", "\\|") + pad + ticks
}

func mdCodes(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = mdCode(s)
	}
	return strings.Join(out, ", ")
}

// mdFence is a fenced block that the text can't end.
func mdFence(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// mdTable writes a table; rows are cells of Markdown.
func mdTable(b *strings.Builder, head []string, rows [][]string) {
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	b.WriteString("\n")
}

// anchor is the fragment that GitHub gives a heading of one word.
func anchor(name string) string { return strings.ToLower(name) }

package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// caret returns what stands before and the marks under bytes col … col+width-1
// of line, so that both lie below the text on a terminal: tabs are kept, wide
// characters take two columns, combining ones none. It never marks past the
// line's end, and always at least one column.
func caret(line string, col, width int) (pad, mark string) {
	start := min(max(col-1, 0), len(line))
	end := min(start+max(width, 1), len(line))
	var b strings.Builder
	for _, r := range line[:start] {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString(strings.Repeat(" ", columns(r)))
	}
	marks := 0
	for _, r := range line[start:end] {
		marks += columns(r)
	}
	return b.String(), strings.Repeat("^", max(marks, 1))
}

// columns is the number of terminal columns that r takes once printed by visible.
func columns(r rune) int {
	switch {
	case r == utf8.RuneError || r == '\t' || unicode.IsControl(r):
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200D || r == 0x200B || r >= 0xFE00 && r <= 0xFE0F:
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// wide reports whether a terminal gives r two columns: the W and F classes of
// Unicode Standard Annex 11, as far as text and comments use them.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) && (r < 0xFF61 || r > 0xFFDC) ||
		r >= 0x3000 && r <= 0x303E ||
		r >= 0xFF01 && r <= 0xFF60 || r >= 0xFFE0 && r <= 0xFFE6 ||
		r >= 0x1F300 && r <= 0x1F64F || r >= 0x1F680 && r <= 0x1F6FF || r >= 0x1F900 && r <= 0x1FAFF
}

// visible replaces what would move the cursor or colour the terminal: input is
// not trusted. Tabs and line ends stay.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r == utf8.RuneError, unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return utf8.RuneError
		}
		return r
	}, s)
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table is columns of text for people. On a terminal the widest columns are cut
// until a line fits; elsewhere nothing is.
type table struct {
	head []string
	rows [][]string
}

// minColumn is how narrow a column may be made.
const minColumn = 8

// add appends a row, as many cells as the head has.
func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = printable(c)
	}
	t.rows = append(t.rows, cells)
}

// write prints the table; width is 0 for no limit.
func (t *table) write(w io.Writer, width int) error {
	widths := t.widths(width)
	var b strings.Builder
	for _, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// widths are those of the columns, two spaces between them.
func (t *table) widths(limit int) []int {
	widths := make([]int, len(t.head))
	total := 2 * (len(t.head) - 1)
	for i := range t.head {
		for _, row := range append([][]string{t.head}, t.rows...) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		total += widths[i]
	}
	for limit > 0 && total > limit {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}

func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// printable quotes what would move the cursor: scopes are other people's texts.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

package render

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Descriptors are laid out here, byte for byte as gofmt would: go/printer
// measures a nested literal once per level above it, and that was most of the
// time of a run. A test holds the two together.

// block writes the elements of a literal, one a line, between braces.
func block(items, comments []string) string {
	if comments != nil {
		items = comment(items, comments)
	} else {
		items = terminate(items)
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, item := range items {
		b.WriteString("\t" + strings.ReplaceAll(item, "\n", "\n\t") + "\n")
	}
	b.WriteString("}")
	return b.String()
}

func terminate(items []string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item + ","
	}
	return out
}

// pad writes the members of a literal with the values of neighbouring lines in
// one column. A value of several lines stands apart.
func pad(parts []member) []string {
	out := make([]string, len(parts))
	for start := 0; start < len(parts); {
		end, width := start, 0
		for end < len(parts) && !strings.Contains(parts[end].value, "\n") {
			width = max(width, len(parts[end].name))
			end++
		}
		if len(parts) == 1 {
			width = 0
		}
		for i := start; i < end; i++ {
			out[i] = parts[i].name + ":" + strings.Repeat(" ", max(1, width-len(parts[i].name)+1)) + parts[i].value
		}
		if end < len(parts) {
			out[end] = parts[end].name + ": " + parts[end].value
			end++
		}
		start = end
	}
	return out
}

// comment appends a comment to each line, those of a section in one column.
func comment(items, comments []string) []string {
	out := make([]string, len(items))
	for start := 0; start < len(items); {
		end := sectionEnd(items, start)
		width := 0
		for _, item := range items[start:end] {
			width = max(width, utf8.RuneCountInString(item))
		}
		for i := start; i < end; i++ {
			gap := strings.Repeat(" ", width-utf8.RuneCountInString(items[i])+1)
			out[i] = items[i] + "," + gap + "// " + oneLine(comments[i])
		}
		start = end
	}
	return out
}

// sectionEnd is where gofmt ends the section that begins at start: before an
// element whose length is far from the geometric mean of those above it, unless
// it and the one above are short (go/printer's exprList).
func sectionEnd(items []string, start int) int {
	const short, far = 40, 2.5
	logs := 0.0
	for i := start; i < len(items); i++ {
		size := len(items[i])
		if i > start && (size > short || len(items[i-1]) > short) {
			ratio := float64(size) / math.Exp(logs/float64(i-start))
			if far*ratio <= 1 || far <= ratio {
				return i
			}
		}
		logs += math.Log(float64(size))
	}
	return len(items)
}

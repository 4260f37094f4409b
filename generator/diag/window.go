package diag

import "unicode/utf8"

// leastWindow is the narrowest part of a line that is worth showing.
const leastWindow = 20

// window cuts a line to so many columns around bytes col … col+width-1, and gives
// the column of the place in what is left. An ellipsis stands where something was
// cut. Lines that fit, and terminals that are very narrow, are left alone.
func window(line string, col, width, limit int) (string, int) {
	if limit < leastWindow || columnsOf(line) <= limit {
		return line, col
	}
	at := min(max(col-1, 0), len(line))
	end := min(at+max(width, 1), len(line))
	from, to, used := at, at, 0
	const marks = 2 // columns of the two ellipses
	grow := func(r rune) bool {
		if r == '\t' || used+columns(r) > limit-marks {
			return false
		}
		used += columns(r)
		return true
	}
	for to < end { // the place itself, from its beginning
		r, size := utf8.DecodeRuneInString(line[to:])
		if !grow(r) {
			break
		}
		to += size
	}
	for moved := true; moved; {
		moved = false
		if r, size := utf8.DecodeLastRuneInString(line[:from]); size > 0 && grow(r) {
			from, moved = from-size, true
		}
		if r, size := utf8.DecodeRuneInString(line[to:]); size > 0 && grow(r) {
			to, moved = to+size, true
		}
	}
	out, shift := line[from:to], from
	if from > 0 {
		out, shift = "…"+out, from-len("…")
	}
	if to < len(line) {
		out += "…"
	}
	return out, max(col-shift, 1)
}

func columnsOf(line string) int {
	n := 0
	for _, r := range line {
		n += columns(r)
	}
	return n
}

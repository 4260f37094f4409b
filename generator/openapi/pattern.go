package openapi

import "strings"

// portable writes a pattern of Go's syntax in ECMA-262's with the flag u, false
// where the two may differ: flags but a leading (?s), named groups, classes by
// name, Unicode, `]` as the first of a class.
func portable(pattern string) (string, bool) {
	rest, dotAll := strings.CutPrefix(pattern, "(?s)")
	w := patternWriter{text: rest, dotAll: dotAll}
	for w.at < len(rest) {
		if !w.next() {
			return "", false
		}
	}
	if w.class {
		return "", false
	}
	return w.out.String(), true
}

type patternWriter struct {
	text   string
	at     int
	dotAll bool
	class  bool // inside of brackets
	out    strings.Builder
}

func (w *patternWriter) next() bool {
	c, rest := w.text[w.at], w.text[w.at+1:]
	switch {
	case c < ' ' || c > '~':
		return false
	case c == '\\':
		return w.escape()
	case w.class:
		w.class = c != ']'
		if c == '[' { // [:alpha:], or one that needs a backslash there
			return false
		}
	case c == '[':
		if strings.HasPrefix(strings.TrimPrefix(rest, "^"), "]") {
			return false
		}
		w.class = true
	case c == '(' && strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:"):
		return false
	case c == '.' && w.dotAll:
		w.out.WriteString(`[\s\S]`)
		w.at++
		return true
	}
	w.out.WriteByte(c)
	w.at++
	return true
}

// escape passes classes that are ASCII in both, and punctuation, with the
// backslash only where the flag u allows one.
func (w *patternWriter) escape() bool {
	if w.at+1 >= len(w.text) {
		return false
	}
	c := w.text[w.at+1]
	w.at += 2
	switch {
	case strings.IndexByte(`dDwW^$\.*+?()[]{}|/`, c) >= 0, c == '-' && w.class:
		w.out.WriteByte('\\')
	case c <= ' ' || c > '~' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return false
	}
	w.out.WriteByte(c)
	return true
}

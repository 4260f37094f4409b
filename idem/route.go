package idem

import "strings"

// RouteShape is what two chi routes that meet have in common: the method and
// the pattern without the names of its parameters and without a final slash.
func RouteShape(method, pattern string) string {
	if len(pattern) > 1 {
		pattern = strings.TrimSuffix(pattern, "/")
	}
	var shape strings.Builder
	shape.WriteString(method + " ")
	depth, named := 0, false
	for _, c := range pattern {
		switch {
		case c == '{':
			depth++
			named = named || depth == 1
		case c == '}':
			depth--
			named = false
		case c == ':' && depth == 1:
			named = false
		}
		if !named || c == '{' {
			shape.WriteRune(c)
		}
	}
	return shape.String()
}

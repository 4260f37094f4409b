package check

import (
	"regexp"
	"strings"
)

// conditionTokens cuts a condition into strings, quoted names, words and signs.
var conditionTokens = regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"|[\pL_0-9.]+|::|[<>=!]+|\S`)

// condition writes a predicate so that two spellings of one are equal: letter
// case, white space, enclosing parentheses and the casts that PostgreSQL adds
// to constants don't count.
func condition(where string) string {
	tokens := conditionTokens.FindAllString(where, -1)
	var out []string
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t == "::" && i > 0 && strings.HasPrefix(tokens[i-1], "'"):
			i++ // the type
			continue
		case t == "!=":
			t = "<>"
		case t[0] != '\'' && t[0] != '"':
			t = strings.ToLower(t)
		}
		out = append(out, t)
	}
	for enclosed(out) {
		out = out[1 : len(out)-1]
	}
	return strings.Join(out, " ")
}

// enclosed reports whether the first parenthesis closes at the end.
func enclosed(tokens []string) bool {
	if len(tokens) < 2 || tokens[0] != "(" {
		return false
	}
	depth := 0
	for i, t := range tokens {
		switch t {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 {
			return i == len(tokens)-1
		}
	}
	return false
}

package check

import (
	"net/http"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// problem completes a declared problem. Its status was judged when it was read.
func problem(p spec.Problem, code string) model.Problem {
	if p.Code != "" {
		code = p.Code
	}
	title := p.Title
	if title == "" {
		title = humanised(code)
	}
	return model.Problem{Status: p.Status, Code: code, Title: title}
}

// snake makes a code of any name.
func snake(name string) string {
	out := strings.Map(func(r rune) rune {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return '_'
		}
		return r
	}, strings.ToLower(name))
	out = strings.Trim(out, "_")
	if out == "" || out[0] < 'a' {
		return "rule_" + out
	}
	return out
}

// humanised is the title of a problem that has none.
func humanised(code string) string {
	words := strings.ReplaceAll(code, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// emptyCode is the default code of @empty.
func emptyCode(status int) string {
	if text := http.StatusText(status); text != "" {
		return snake(text)
	}
	return "empty"
}

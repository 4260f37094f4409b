package spec

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/diag"
)

// transient statuses mean "try again": a definite answer can't have one.
var transient = []int{408, 425, 429}

// problem parses STATUS [CODE] ["title"] from the remaining arguments. Allowed
// judges the status.
func (a *args) problem(allowed func(int) string) (Problem, bool) {
	f, ok := a.need("a status")
	if !ok {
		return Problem{}, false
	}
	p := Problem{Pos: a.pos(f)}
	if p.Status, ok = a.status(f, diag.ProblemForm, allowed); !ok {
		return p, false
	}
	if f, ok = a.take(); ok && !strings.HasPrefix(f.text, `"`) {
		if p.Code = f.text; !isCode(p.Code) {
			a.badCode(f)
			return p, false
		}
		f, ok = a.take()
	}
	if ok {
		if p.Title, ok = a.title(f); !ok {
			return p, false
		}
	}
	a.rest()
	return p, !a.failed
}

// status parses a status; allowed returns "" or what is wrong with it.
func (a *args) status(f field, code diag.Code, allowed func(int) string) (int, bool) {
	n, err := strconv.Atoi(f.text)
	if err != nil || len(f.text) != 3 || n < 100 || n > 599 {
		a.fail(code, a.pos(f), "%q is not an HTTP status", f.text)
		return 0, false
	}
	if wrong := allowed(n); wrong != "" {
		a.failed = true
		a.diags.Errorf(code, a.pos(f), "%s can't have status %d", a.name(), n).Hint("%s", wrong)
		return 0, false
	}
	return n, true
}

func (a *args) badCode(f field) {
	if strings.HasPrefix(f.text, "'") {
		a.fail(diag.ProblemForm, a.pos(f), "a title stands in double quotes").
			Hint(`write "%s"`, strings.Trim(f.text, "'"))
		return
	}
	entry := a.fail(diag.ProblemForm, a.pos(f), "%q is not a code: a snake_case word of lower-case letters, digits and _", f.text)
	if better := snake(f.text); isCode(better) {
		entry.Hint("write %s; a title stands behind it in double quotes", better)
	}
}

func (a *args) title(f field) (string, bool) {
	text, ok := unquote(f.text)
	switch {
	case !ok || f.text[0] != '"':
		a.fail(diag.ProblemForm, a.pos(f), "a title stands in double quotes, and is the last argument")
		return "", false
	case strings.TrimSpace(text) == "":
		a.fail(diag.ProblemForm, a.pos(f), "the title is empty")
		return "", false
	case strings.ContainsFunc(text, unicode.IsControl):
		a.fail(diag.ProblemForm, a.pos(f), "the title holds a control character")
		return "", false
	}
	return text, true
}

// isCode reports whether s is a problem code: snake_case, a letter first.
func isCode(s string) bool {
	return isIdent(s) && s == strings.ToLower(s) && s[0] != '_' && len(s) <= 63
}

func snake(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r - 'A' + 'a'
		}
		if r == '-' || r == '.' || r == ' ' {
			return '_'
		}
		return r
	}, s), "_")
}

// The rules of each word for its status: "" if it may have it.

func requireStatus(n int) string {
	if n < 400 || n > 499 || slices.Contains(transient, n) {
		return "a requirement that fails is a definite client error: 4xx, but not 408, 425 and 429"
	}
	return ""
}

func errorStatus(n int) string {
	if n < 400 || n > 499 || slices.Contains(append([]int{401, 403}, transient...), n) {
		return "a violated constraint is a definite client error: 4xx, but not 401, 403, 408, 425 and 429"
	}
	return ""
}

func emptyStatus(n int) string {
	if emptyFine(n) {
		return ""
	}
	if n < 400 || n > 499 || slices.Contains(transient, n) {
		return "no row is fine (2xx or 304), or a definite client error: 4xx, but not 408, 425 and 429"
	}
	return ""
}

// emptyFine reports whether a status of @empty says that no row is fine.
func emptyFine(n int) bool { return n >= 200 && n <= 299 || n == 304 }

func keptStatus(n int) string {
	if n < 200 || n > 499 || slices.Contains(transient, n) {
		return "the writes stay, so it is 2xx, 3xx, or 4xx but not 408, 425 and 429"
	}
	return ""
}

func successStatus(n int) string {
	if n >= 200 && n <= 299 || slices.Contains([]int{301, 302, 303, 307, 308}, n) {
		return ""
	}
	return "it is the status of a success: 2xx or a redirect; other answers come from @status, @empty, @require and @error"
}

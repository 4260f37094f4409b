package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// alikeCallers warns about two fields of the caller whose names are nearly the
// same: one of them is probably a typing error, and would silently be a field
// that nobody fills. The scope's name is taken for right, then those of the
// configuration.
func (c *checker) alikeCallers() {
	var names []string
	places := map[string]diag.Pos{}
	add := func(name string, pos diag.Pos) {
		if _, seen := places[name]; !seen {
			names, places[name] = append(names, name), pos
		}
	}
	for _, src := range c.configSources() {
		if src.Kind == spec.SourceCaller && len(src.Path) == 1 {
			add(src.Path[0], src.Pos)
		}
	}
	for _, name := range sortedKeys(c.callers) {
		add(name, c.callers[name].Pos)
	}
	for i, name := range names {
		for _, other := range names[:i] {
			if misspelt(name, other) && goName(name) != goName(other) { // else an error anyway
				c.diags.Warnf(diag.BindUnknown, places[name], "caller.%s and caller.%s would be two fields of the Caller, though their names are nearly the same", name, other).
					Hint("did you mean caller.%s? if they are two, names that differ more tell them apart", other)
				break
			}
		}
	}
}

// configSources are the sources of the configuration, the scope's first.
func (c *checker) configSources() []spec.Source {
	out := []spec.Source{c.in.Config.Scope}
	for _, b := range c.in.Config.Bind {
		out = append(out, b.Source)
	}
	for _, v := range c.in.Config.Session {
		out = append(out, v.Source)
	}
	return out
}

// misspelt reports whether one of two names is probably a typing error of the
// other. Only the words that differ count: user_id and user_ip are two things,
// and so are a thing and its plural.
func misspelt(a, b string) bool {
	if sameField(a, b) {
		return true
	}
	if strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") {
		return false
	}
	x, y := differing(a, b)
	if len(x) < 4 || len(y) < 4 {
		return sameLetters(x, y)
	}
	return diag.Nearest(x, []string{y}) != "" && diag.Nearest(y, []string{x}) != ""
}

// differing leaves out the words with which both names begin, or end.
func differing(a, b string) (string, string) {
	x, y := strings.Split(a, "_"), strings.Split(b, "_")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return strings.Join(x, "_"), strings.Join(y, "_")
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return len(x) > 0 && slices.Equal(x, y)
}

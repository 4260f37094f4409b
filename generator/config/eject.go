package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

var operationName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)

// eject reads the operations whose files are the user's own.
func (r *reader) eject(e yamltree.Entry) {
	nodes, ok := e.Value.List()
	if !ok {
		r.bad(e.Value.Pos(), "write eject: [CreatePayment]", "`eject:` is a list of operations, this is %s", e.Value.Kind())
		return
	}
	for _, n := range nodes {
		s, ok := n.Text()
		switch {
		case !ok || !operationName.MatchString(s.Value):
			r.bad(n.Pos(), "write eject: [CreatePayment]", "an element of `eject:` is no name of an operation")
		case r.cfg.Ejects(s.Value):
			r.bad(s.Pos, "remove one of the two", "%s stands twice in `eject:`", s.Value)
		default:
			r.cfg.Eject = append(r.cfg.Eject, spec.Name{Value: s.Value, Pos: s.Pos})
		}
	}
}

// Ejects reports whether the files of an operation are the user's own.
func (c *Config) Ejects(operation string) bool {
	return slices.ContainsFunc(c.Eject, func(n spec.Name) bool { return n.Value == operation })
}

// AddEject is the text of a configuration with one more operation under `eject:`,
// all else as it was. It fails where the list has a form that it can't add to.
func AddEject(file, text, module, operation string) (string, bool) {
	var before diag.List
	cfg := Parse(file, []byte(text), module, &before)
	at, there := cfg.Pos["eject"]
	var out string
	switch {
	case !there:
		out = strings.TrimRight(text, "\n") + "\neject: [" + operation + "]\n"
	case len(cfg.Eject) > 0:
		out = addBehind(text, cfg.Eject[len(cfg.Eject)-1], operation)
	default:
		out = addToEmpty(text, at, operation)
	}
	var after diag.List
	got := Parse(file, []byte(out), module, &after)
	complete := len(got.Eject) == len(cfg.Eject)+1 && got.Ejects(operation)
	return out, complete && len(after.Sorted()) == len(before.Sorted())
}

// addBehind adds a name behind the last one: in a list of lines as one more line.
func addBehind(text string, last spec.Name, operation string) string {
	lines := strings.SplitAfter(text, "\n")
	i := last.Pos.Line - 1
	if i >= len(lines) {
		return text
	}
	line := lines[i]
	start := strings.LastIndex(line[:min(len(line), last.Pos.Col+len(last.Value)+1)], last.Value)
	if start < 0 {
		return text
	}
	head := line[:start]
	if dash := strings.TrimRight(head, ` "'`); strings.TrimLeft(dash, " ") == "-" {
		lines[i] = strings.TrimRight(line, "\r\n") + "\n" + strings.TrimRight(head, `"'`) + operation + "\n"
		return strings.Join(lines, "")
	}
	end := start + len(last.Value)
	if end < len(line) && (line[end] == '"' || line[end] == '\'') {
		end++
	}
	lines[i] = line[:end] + ", " + operation + line[end:]
	return strings.Join(lines, "")
}

// addToEmpty fills `eject: []`.
func addToEmpty(text string, at diag.Pos, operation string) string {
	lines := strings.SplitAfter(text, "\n")
	if at.Line > len(lines) {
		return text
	}
	lines[at.Line-1] = strings.Replace(lines[at.Line-1], "]", operation+"]", 1)
	return strings.Join(lines, "")
}

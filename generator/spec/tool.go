package spec

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/diag"
)

// Tool is @tool: the operation is one that agents call.
type Tool struct {
	Pos         diag.Pos
	Name        Name
	Description string // "": that of the operation
}

// toolForm is what hosts of agents take for a name: MCP allows more, the programming
// interfaces of language models do not.
var toolForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// parseTool reads NAME ["description"].
func parseTool(a *args, d *Declarations) {
	f, ok := a.need("a name")
	if !ok {
		return
	}
	if !toolForm.MatchString(f.text) {
		a.fail(diag.AnnotationForm, a.pos(f), "%q is not the name of a tool: a letter, then letters, digits, _ and -, at most 64", f.text)
		return
	}
	t := &Tool{Pos: a.pos(f), Name: a.named(f)}
	if f, ok = a.take(); ok && !a.toolDescription(f, t) {
		return
	}
	if a.rest(); !a.failed {
		d.Tool = t
	}
}

// toolDescription reads what the agent is told that the tool is for.
func (a *args) toolDescription(f field, t *Tool) bool {
	text, quoted := unquote(f.text)
	switch {
	case !quoted || f.text[0] != '"':
		a.fail(diag.AnnotationForm, a.pos(f), "a description stands in double quotes, and is the last argument")
	case strings.TrimSpace(text) == "":
		a.fail(diag.AnnotationForm, a.pos(f), "the description is empty").Hint("leave it out: the description of the operation takes its place")
	case strings.ContainsFunc(text, unicode.IsControl):
		a.fail(diag.AnnotationForm, a.pos(f), "the description holds a control character")
	default:
		t.Description = text
		return true
	}
	return false
}

// reachTool gives an operation that is a tool and nothing else a route to stand in
// for the one it has not, and refuses a tool that is something else than a request
// of a caller.
func (d *Declarations) reachTool(in where, diags *diag.List) {
	if d.Tool == nil {
		return
	}
	for word, declared := range map[string]bool{"webhook": d.Webhook != nil, "consume": d.Consume != nil} {
		if declared {
			diags.Errorf(diag.RouteForm, d.Tool.Pos, "%s and %s can't stand on one operation: nobody calls the receiver of another system's deliveries", spelled("tool", in), spelled(word, in)).
				Hint("make two operations of it: endpoints of a spec may share the query")
			return
		}
	}
	if d.HTTP == nil {
		d.HTTP = &HTTP{Pos: d.Tool.Pos, Method: "POST", PathPos: d.Tool.Pos}
	}
}

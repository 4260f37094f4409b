package check

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// parsePath lists the parameters of a chi pattern. Shape is the pattern without
// their names: two routes of one shape can't be told apart. The pattern was
// judged when it was read.
func parsePath(path string) (params []string, shape string) {
	var b strings.Builder
	for path != "" {
		before, rest, ok := strings.Cut(path, "{")
		b.WriteString(before)
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		params = append(params, name)
		b.WriteString("{}")
		path = after
	}
	return params, b.String()
}

// status checks the success status, or finds the default.
func (b *builder) status(h *spec.HTTP, body bool) {
	if h.Status == 0 {
		b.op.Status = defaultStatus(b.op.Method, body)
		return
	}
	b.op.Status = h.Status
	pos := h.StatusPos
	if pos.IsZero() {
		pos = h.Pos
	}
	if body && (h.Status == 204 || h.Status == 205) {
		b.diags.Errorf(diag.RouteForm, pos, "a %d answer has no body, but the statement returns a row", h.Status).
			Hint("make the query :exec, or use 200")
	}
}

func defaultStatus(method string, body bool) int {
	switch {
	case !body:
		return 204
	case method == "POST":
		return 201
	}
	return 200
}

// hasBody reports whether requests of the method carry one that means anything
// (RFC 9110 section 9.3).
func hasBody(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

func isRead(method string) bool { return method == "GET" || method == "HEAD" }

// routes refuses two operations on one route.
func (c *checker) routes() {
	seen := map[string]string{}
	c.deliveries()
	c.messages()
	c.tools()
	for _, op := range c.svc.Operations {
		if op.Consumer != nil || op.OnlyTool() {
			continue
		}
		if op.Webhook != nil && seen[op.Method+" "+op.Path] == op.Webhook.System {
			continue
		}
		_, shape := parsePath(op.Path)
		route := op.Method + " " + shape
		if other, ok := seen[route]; ok {
			c.diags.Errorf(diag.RouteConflict, op.Pos, "%s and %s are both at %s %s", other, op.Name, op.Method, op.Path).
				Hint("change one path or method")
			continue
		}
		seen[route] = op.Name
		if op.Webhook != nil {
			seen[route] = op.Webhook.System
		}
	}
	c.statusRoutes(seen)
}

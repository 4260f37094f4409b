package spec

import (
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// Methods are the methods that an operation can have.
func Methods() []string { return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} }

// parseHTTP reads METHOD PATH [STATUS].
func parseHTTP(a *args, d *Declarations) {
	method, ok := a.need("a method")
	if !ok || !a.method(method) {
		return
	}
	route, ok := a.need("a path")
	if !ok || !a.path(route) {
		return
	}
	h := &HTTP{Pos: a.pos(method), Method: method.text, Path: route.text, PathPos: a.pos(route)}
	if f, ok := a.take(); ok {
		h.StatusPos = a.pos(f)
		if h.Status, ok = a.status(f, diag.RouteForm, successStatus); !ok {
			return
		}
	}
	if a.rest(); !a.failed && d.HTTP != nil {
		a.twoWays(h.Pos, d)
	}
	if !a.failed {
		d.HTTP = h
	}
}

func (a *args) method(f field) bool {
	if slices.Contains(Methods(), f.text) {
		return true
	}
	upper := strings.ToUpper(f.text)
	switch near := diag.Nearest(f.text, Methods()); {
	case slices.Contains(Methods(), upper):
		a.fail(diag.RouteForm, a.pos(f), "methods are written in capitals").Hint("write %s", upper)
	case strings.HasPrefix(f.text, "/"):
		a.fail(diag.RouteForm, a.pos(f), "the method stands before the path")
	default:
		entry := a.fail(diag.RouteForm, a.pos(f), "%s is not a method that an operation can have", f.text)
		if near != "" {
			entry.Hint("did you mean %s?", near)
		} else {
			entry.Hint("methods are %s", strings.Join(Methods(), ", "))
		}
	}
	return false
}

// path checks a chi pattern of segments and {name} parameters.
func (a *args) path(f field) bool {
	p := f.text
	if !strings.HasPrefix(p, "/") {
		a.fail(diag.RouteForm, a.pos(f), "a path begins with /").Hint("write /%s", p)
		return false
	}
	var names []string
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '{':
			end := strings.IndexByte(p[i:], '}')
			if end < 0 {
				return a.badPath(f, i, len(p)-i, "the brace is not closed", "write {name}")
			}
			name := p[i+1 : i+end]
			if wrong, hint := pathName(name, names); wrong != "" {
				return a.badPath(f, i, end+1, wrong, hint)
			}
			if strings.HasPrefix(p[i+end+1:], "{") {
				return a.badPath(f, i, end+2, "two parameters need a text between them", "write {a}/{b}")
			}
			names = append(names, name)
			i += end
		case c == ':' && p[i-1] == '/': // i > 0: the path begins with /
			return a.colonParam(f, i)
		case c == '/' && i > 0 && p[i-1] == '/':
			return a.badPath(f, i-1, 2, "a segment is empty", "remove one /")
		case c == '.' && dotSegment(p, i) > 0:
			return a.badPath(f, i, dotSegment(p, i), "clients and proxies resolve . and .. before they send a path, so this route is never met (RFC 3986 section 5.2.4)",
				"write the path that is left: "+path.Clean(p))
		case !pathByte(c):
			return a.badPath(f, i, 1, "this character can't stand in a path", pathHint(c))
		}
	}
	return true
}

// dotSegment is the width of the segment . or .. that begins at i, 0 if none does.
func dotSegment(p string, i int) int {
	segment, _, _ := strings.Cut(p[i:], "/")
	if p[i-1] == '/' && (segment == "." || segment == "..") {
		return len(segment)
	}
	return 0
}

func (a *args) badPath(f field, offset, width int, wrong, hint string) bool {
	a.failed = true
	a.diags.Errorf(diag.RouteForm, a.at(f.offset+offset, width), "%s", wrong).Hint("%s", hint)
	return false
}

// colonParam refuses :name, which is how other routers write a parameter.
func (a *args) colonParam(f field, at int) bool {
	segment, _, _ := strings.Cut(f.text[at:], "/")
	name := strings.TrimPrefix(segment, ":")
	if !isIdent(name) {
		name = "name"
	}
	return a.badPath(f, at, len(segment), "a parameter of the path stands in braces", "write {"+name+"}")
}

func pathName(name string, names []string) (wrong, hint string) {
	plain, _, pattern := strings.Cut(name, ":")
	switch {
	case pattern && isIdent(plain):
		return "a path parameter has no pattern here; the SQL type decides what it accepts", "write {" + plain + "}"
	case !isIdent(name):
		return "{" + name + "} is not the name of a parameter", "write {name}: letters, digits and _"
	case slices.Contains(names, name):
		return "{" + name + "} stands twice in the path", "give the second one another name and bind it with @bind"
	}
	return "", ""
}

// pathByte reports whether c is an unreserved character or sub-delimiter of RFC
// 3986 that stands for itself in every router.
func pathByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("/-._~!$&'()+,;=:@", c) >= 0
}

func pathHint(c byte) string {
	switch c {
	case '?':
		return "query parameters are not part of the route; bind them with query.NAME"
	case '*':
		return "a wildcard is not supported; name the segment: {name}"
	case '#':
		return "a fragment stays with the client; remove it"
	case '%':
		return "a path has no escapes here: write the character itself, one of letters, digits, and - . _ ~ : @ ! $ & ' ( ) + , ; ="
	}
	return "letters, digits, and - . _ ~ : @ ! $ & ' ( ) + , ; =, in segments between /"
}

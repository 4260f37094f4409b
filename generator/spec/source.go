package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

const sourceForms = "a source is body.NAME, body, path.NAME, query.NAME, header.NAME, caller.NAME, scope, key, has(body.NAME), now, uuid4, uuid7 or 'literal'"

// bareSources stand alone; dotted ones need a name behind the dot.
var (
	bareSources   = []string{"body", "scope", "key", "now", "uuid4", "uuid7"}
	dottedSources = []string{"body", "path", "query", "header", "caller", "item"}
)

// source parses one source expression; steps may also name another step's
// column, or the item of `each`.
func (a *args) source(f field) (Source, bool) {
	src := Source{Pos: a.pos(f)}
	head, tail, dotted := strings.Cut(f.text, ".")
	switch {
	case strings.HasPrefix(f.text, "'"):
		return a.literal(f, src)
	case strings.HasPrefix(f.text, "has("):
		return a.has(f, src)
	case dotted && slices.Contains(dottedSources, head):
		src.Kind = SourceKind(head)
		src.Path = strings.Split(tail, ".")
		return src, a.sourcePath(f, src)
	case !dotted && slices.Contains(bareSources, head):
		src.Kind = SourceKind(head)
		return src, true
	case dotted && a.where == inStep && isIdent(head) && isIdent(tail):
		src.Kind, src.Path = SourceStep, []string{head, tail}
		return src, true
	}
	a.unknownSource(f, head, dotted)
	return src, false
}

func (a *args) literal(f field, src Source) (Source, bool) {
	text, ok := unquote(f.text)
	if !ok {
		a.fail(diag.AnnotationForm, a.pos(f), "a literal ends with its quote")
	}
	src.Kind, src.Text = SourceLiteral, text
	return src, ok
}

func (a *args) has(f field, src Source) (Source, bool) {
	inner, ok := strings.CutSuffix(strings.TrimPrefix(f.text, "has("), ")")
	name, isBody := strings.CutPrefix(strings.TrimSpace(inner), "body.")
	src.Kind, src.Path = SourceHas, strings.Split(name, ".")
	if !ok || !isBody || !isMember(name) {
		a.fail(diag.BindUnknown, a.pos(f), "has() takes one member of the body").
			Hint("write has(body.NAME)")
		return src, false
	}
	return src, true
}

// sourcePath checks the names behind the first dot.
func (a *args) sourcePath(f field, src Source) bool {
	name := strings.Join(src.Path, ".")
	ok := false
	switch src.Kind {
	case SourceBody, SourceItem:
		ok = isMember(name)
	case SourceHeader:
		ok = isToken(name)
	case SourceQuery:
		ok = isMember(name) && len(src.Path) == 1
	default:
		ok = isIdent(name)
	}
	if !ok {
		a.fail(diag.BindUnknown, a.pos(f), "%s needs a name behind the dot, %q is none", src.Kind, name).
			Hint("write %s.NAME", src.Kind)
		return false
	}
	if src.Kind == SourceItem && a.where != inStep {
		a.fail(diag.BindUnknown, a.pos(f), "item.NAME exists only in a step with `each:`").
			Hint("bind it on the step of the endpoint spec: bind: {%s: %s}", "PARAM", f.text)
		return false
	}
	return true
}

func (a *args) unknownSource(f field, head string, dotted bool) {
	pos := a.pos(f)
	switch {
	case !dotted && slices.Contains(dottedSources, head):
		a.fail(diag.BindUnknown, pos, "%s needs a name", head).Hint("write %s.NAME", head)
	case strings.HasPrefix(f.text, `"`):
		a.fail(diag.BindUnknown, pos, "a literal stands in single quotes").
			Hint("write '%s'", strings.ReplaceAll(strings.Trim(f.text, `"`), "'", "''"))
	case dotted && isIdent(head) && diag.Nearest(head, dottedSources) == "" && a.where == inQuery:
		a.fail(diag.BindUnknown, pos, "unknown source %s", f.text).
			Hint("a column of another step is bound on the step of the endpoint spec; %s", sourceForms)
	default:
		entry := a.fail(diag.BindUnknown, pos, "unknown source %s", f.text)
		candidates := bareSources
		if dotted {
			candidates = dottedSources
		}
		switch near := diag.Nearest(head, candidates); {
		case near != "":
			entry.Hint("did you mean %s?", strings.Replace(f.text, head, near, 1))
		case !dotted && isIdent(head):
			entry.Hint("did you mean caller.%s or body.%s? %s", head, head, sourceForms)
		default:
			entry.Hint("%s", sourceForms)
		}
	}
}

// isMember reports whether every part of s between dots can be a JSON member
// that a source names.
func isMember(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isIdent(strings.ReplaceAll(part, "-", "_")) {
			return false
		}
	}
	return true
}

// isToken reports whether s is a token of RFC 9110, as header names are.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// ReadSource parses a source that stands alone in idemgen.yaml: `key` is the
// YAML key, for messages.
func ReadSource(key string, text yamltree.Scalar, diags *diag.List) (Source, bool) {
	a, ok := newArgs(key, inConfig, text.Pos, text, diags)
	if !ok {
		return Source{}, false
	}
	f, ok := a.need("a source")
	if !ok {
		return Source{}, false
	}
	src, ok := a.source(f)
	a.rest()
	return src, ok && !a.failed
}

package spec

import (
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/diag"
)

func parseOperation(a *args, d *Declarations) {
	f, ok := a.need("a name")
	if a.rest(); !ok || a.failed {
		return
	}
	if !isOperation(f.text) {
		a.fail(diag.AnnotationForm, a.pos(f), "%q is not the name of an operation: a capital letter, then letters and digits", f.text)
		return
	}
	name := a.named(f)
	d.Operation = &name
}

// isOperation reports whether s can name an operation: an exported Go name.
func isOperation(s string) bool {
	return isIdent(s) && s[0] >= 'A' && s[0] <= 'Z'
}

func parseTag(a *args, d *Declarations) {
	for _, f := range a.list() {
		name := a.named(f)
		inner, quoted := unquote(f.text)
		switch {
		case quoted:
			name.Value = inner
		case strings.ContainsAny(f.text, " \t") && (a.where == inQuery || a.text.Plain):
			a.fail(diag.AnnotationForm, name.Pos, "%q is one tag or several", f.text).
				Hint("part tags with commas: %s; a tag with a space stands in double quotes", strings.Join(strings.Fields(f.text), ", "))
			return
		}
		if strings.TrimSpace(name.Value) == "" || strings.ContainsFunc(name.Value, unicode.IsControl) {
			a.fail(diag.AnnotationForm, name.Pos, "%q is not a tag", name.Value)
			return
		}
		if first := named(d.Tags, name.Value); first != nil {
			a.repeated(name, first.Pos)
			return
		}
		d.Tags = append(d.Tags, name)
	}
}

// keyOptions are the words after `@key header`.
var keyOptions = []string{"required", "optional"}

func parseKey(a *args, d *Declarations) {
	f, ok := a.need("a source")
	if !ok {
		return
	}
	k := &Key{Pos: a.pos(f)}
	switch f.text {
	case "header":
		k.From = "header"
		ok = a.keyRequired(k)
	case "intent", "none":
		k.From = f.text
	default:
		k.From = "source"
		ok = a.keySource(k, f)
	}
	if !ok {
		return
	}
	if a.rest(); !a.failed {
		d.Key = k
	}
}

func (a *args) keyRequired(k *Key) bool {
	f, ok := a.take()
	if !ok {
		return true
	}
	if !slices.Contains(keyOptions, f.text) {
		entry := a.fail(diag.KeyRule, a.pos(f), "unexpected %s after header", f.text)
		if near := diag.Nearest(f.text, keyOptions); near != "" {
			entry.Hint("did you mean %s?", near)
		} else if strings.HasPrefix(f.text, "prefix=") {
			entry.Hint("a prefix goes with a source: @key header.X-Request-Id %s", f.text)
		}
		return false
	}
	required := f.text == "required"
	k.Required = &required
	return true
}

func (a *args) keySource(k *Key, f field) bool {
	if slices.Contains(keyOptions, f.text) {
		a.fail(diag.KeyRule, a.pos(f), "%s says not where the key comes from", f.text).Hint("write %s", a.written("header "+f.text))
		return false
	}
	near := diag.Nearest(f.text, []string{"header", "intent", "none"})
	if near != "" && isIdent(f.text) && !slices.Contains(bareSources, f.text) {
		a.fail(diag.KeyRule, a.pos(f), "a key can't come from %s", f.text).Hint("did you mean %s?", near)
		return false
	}
	var ok bool
	if k.Source, ok = a.keyableSource(f); !ok {
		return false
	}
	f, ok = a.take()
	if !ok {
		return true
	}
	name, value, isPair := f.pair()
	if !isPair || name != "prefix" {
		a.fail(diag.KeyRule, a.pos(f), "unexpected %s after the key's source", f.text)
		return false
	}
	text, quoted := unquote(value.text)
	if !quoted {
		a.fail(diag.KeyRule, a.pos(value), "a prefix stands in double quotes")
		return false
	}
	k.Prefix = text
	return a.template(value, text, diag.KeyRule, "a path parameter", isIdent)
}

// keyableSource refuses sources that differ at each try, or never.
func (a *args) keyableSource(f field) (Source, bool) {
	src, ok := a.source(f)
	if !ok {
		return src, false
	}
	why := ""
	switch src.Kind {
	case SourceNow, SourceUUID4, SourceUUID7:
		why = "it is another one at each try, so a retry would run again"
	case SourceLiteral, SourceScope:
		why = "every request of a scope would have the same key"
	case SourceHas, SourceKey, SourceStep, SourceItem:
		why = "it is not a value that the request brings"
	case SourceBody:
		if len(src.Path) == 0 {
			why = "the whole body is the fingerprint already; name a member that identifies the request"
		}
	}
	if why != "" {
		a.failed = true
		a.diags.Errorf(diag.KeyRule, src.Pos, "a key can't come from %s: %s", f.text, why).
			Hint("write %s, or a member such as body.request_id", keyWord(a, "header"))
		return src, false
	}
	return src, true
}

func keyWord(a *args, value string) string {
	if a.where == inQuery {
		return "@key " + value
	}
	return "key: " + value
}

// template checks the braces of a text that stands in field f.
func (a *args) template(f field, text string, code diag.Code, what string, nameOK func(string) bool) bool {
	for rest := text; ; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			return true
		}
		end := strings.IndexByte(rest[open:], '}')
		if rest[open] == '}' || end < 0 {
			a.fail(code, a.pos(f), "a brace of the template is not closed, or not opened")
			return false
		}
		name := rest[open+1 : open+end]
		if !nameOK(name) {
			a.fail(code, a.pos(f), "{%s} does not name %s", name, what)
			return false
		}
		rest = rest[open+end+1:]
	}
}

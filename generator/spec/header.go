package spec

import (
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/diag"
)

// unsettable are response headers that a record can't hold: secrets, hop-by-hop
// headers (RFC 9110 section 7.6.1), and the ones that the runtime sets.
var unsettable = map[string]string{
	"set-cookie": "it would be stored and replayed", "set-cookie2": "it would be stored and replayed",
	"authorization": "it would be stored and replayed", "www-authenticate": "it would be stored and replayed",
	"connection": "it is hop-by-hop", "keep-alive": "it is hop-by-hop", "proxy-connection": "it is hop-by-hop",
	"proxy-authenticate": "it is hop-by-hop", "proxy-authorization": "it is hop-by-hop", "te": "it is hop-by-hop",
	"trailer": "it is hop-by-hop", "transfer-encoding": "it is hop-by-hop", "upgrade": "it is hop-by-hop",
	"idempotency-key": "the runtime sets it", "x-idempotency-key": "the runtime sets it", "idempotent-replayed": "the runtime sets it",
	"x-idempotency-status": "the runtime sets it", "x-should-retry": "the runtime sets it", "retry-after": "the runtime sets it",
	"date": "it says when this answer was sent",
}

// parseHeader reads the template behind NAME: in double quotes, or as it is
// where YAML has quoted it.
func parseHeader(a *args, name Name, d *Declarations) {
	lower := strings.ToLower(name.Value)
	why := unsettable[lower]
	if strings.HasPrefix(lower, "content-") {
		why = "the runtime sets it from the body"
	}
	if why != "" {
		a.fail(diag.HeaderForm, name.Pos, "header %s can't be set here: %s", name.Value, why).
			Hint("remove it, or set it in a middleware of the service")
		return
	}
	text, ok := a.headerTemplate()
	if !ok {
		return
	}
	if slices.ContainsFunc(d.Headers, func(h Header) bool { return strings.EqualFold(h.Name, name.Value) }) {
		i := slices.IndexFunc(d.Headers, func(h Header) bool { return strings.EqualFold(h.Name, name.Value) })
		a.repeated(name, d.Headers[i].Pos)
		return
	}
	d.Headers = append(d.Headers, Header{Pos: name.Pos, Name: name.Value, Template: text})
}

func (a *args) headerTemplate() (string, bool) {
	f, ok := a.need("a template")
	if !ok {
		return "", false
	}
	text, quoted := unquote(f.text)
	if !quoted && a.where != inQuery && a.next == 1 {
		// The value of a YAML mapping is the template itself.
		a.next = len(a.fields)
		f = field{text: a.text.Value}
		text, quoted = a.text.Value, true
	}
	if !quoted || f.text[0] == '\'' {
		a.fail(diag.HeaderForm, a.pos(f), "a template stands in double quotes")
		return "", false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxASCII }) || text == "" {
		a.fail(diag.HeaderForm, a.pos(f), "a header's template is printable ASCII, and not empty")
		return "", false
	}
	ok = a.template(f, text, diag.HeaderForm, "a column", isDotted)
	a.rest()
	return text, ok && !a.failed
}

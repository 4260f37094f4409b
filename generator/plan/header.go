package plan

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// headersOf is the jsonb object of the response headers that this step's row
// fills, "" if there are none. A header with a NULL in it is left out.
func (u *unit) headersOf(r renderer, from string) string {
	var items []string
	nullable := false
	for _, h := range u.p.op.Headers {
		if !u.fills(h) {
			continue
		}
		value, null := u.headerValue(r, h, from)
		items = append(items, sqltext.QuoteLiteral(h.Name)+", "+value)
		nullable = nullable || null
	}
	if len(items) == 0 {
		return ""
	}
	object := "jsonb_build_object(" + strings.Join(items, ", ") + ")"
	if nullable {
		object = "jsonb_strip_nulls(" + object + ")"
	}
	if u.many() && from == "d" { // a list's headers speak of its first row
		object = "(SELECT " + object + " FROM idem_done d LIMIT 1)"
	}
	return object
}

// fills reports whether the header's columns are this step's. One that names
// no step belongs to the step of the response.
func (u *unit) fills(h model.Header) bool {
	step := h.Step
	if step == "" {
		step = u.p.op.Response.Step
	}
	if step == "" {
		step = u.p.units[len(u.p.units)-1].step.Name
	}
	return step == u.step.Name
}

func (u *unit) headerValue(r renderer, h model.Header, from string) (value string, nullable bool) {
	var parts []string
	for _, part := range h.Parts {
		if part.Name == "" {
			parts = append(parts, sqltext.QuoteLiteral(part.Text))
			continue
		}
		s := u.find(part.Name)
		if s == nil {
			continue
		}
		nullable = nullable || s.typ.Nullable
		parts = append(parts, headerPart(r, h, from+"."+sqltext.QuoteIdent(s.name), s.typ))
	}
	if len(parts) == 0 {
		return "''", false
	}
	return strings.Join(parts, " || "), nullable
}

// headerPart is one column in a header. Numbers, booleans, UUIDs and dates are
// safe as they are.
func headerPart(r renderer, h model.Header, column string, t model.Type) string {
	text := r.plain(column, t)
	switch t.Kind {
	case model.KindBool, model.KindInt2, model.KindInt4, model.KindInt8, model.KindUUID, model.KindDate:
		if !t.Array {
			return text
		}
	}
	if h.URL {
		return "idem.urlencode(" + text + ")"
	}
	return "idem.header_text(" + text + ")"
}

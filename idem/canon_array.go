package idem

import "strings"

// arrayValue is the value of a one-dimensional array.
func arrayValue(items []Value) Value {
	return Value{Set: true, Text: arrayLiteral(items, func(v Value) string { return v.Text }), items: items}
}

// arrayLiteral writes PostgreSQL's array literal.
func arrayLiteral(items []Value, text func(Value) string) string {
	size := 2
	for _, v := range items {
		size += len(v.Text) + 3
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteByte('{')
	for i, v := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.Null {
			b.WriteString("NULL")
		} else {
			writeElement(&b, text(v))
		}
	}
	b.WriteByte('}')
	return b.String()
}

// writeElement quotes an element where array_out would.
func writeElement(b *strings.Builder, s string) {
	if s != "" && !strings.EqualFold(s, "null") && !strings.ContainsAny(s, "{}\",\\ \t\n\r\v\f") {
		b.WriteString(s)
		return
	}
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
}

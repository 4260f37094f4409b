package yamltree

import (
	"encoding/json"
	"strings"
)

// JSON renders the node as a JSON document with members in the order written.
// Numbers keep their spelling where JSON has it. It reports false for a node
// that has no JSON form, after a diagnostic where one helps.
func (n Node) JSON() (string, bool) {
	var b strings.Builder
	ok := n.writeJSON(&b)
	return b.String(), ok
}

func (n Node) writeJSON(b *strings.Builder) bool {
	switch {
	case n.IsMap():
		entries, ok := n.Map()
		return ok && writeAll(b, '{', '}', entries, func(e Entry) bool {
			writeString(b, e.Key.Value)
			b.WriteString(": ")
			return e.Value.writeJSON(b)
		})
	case n.IsList():
		elements, ok := n.List()
		return ok && writeAll(b, '[', ']', elements, func(e Node) bool { return e.writeJSON(b) })
	case n.IsNull():
		b.WriteString("null")
		return true
	}
	n.writeScalar(b)
	return true
}

func (n Node) writeScalar(b *strings.Builder) {
	value := n.node.Value
	switch n.node.Tag {
	case "!!int", "!!float":
		if json.Valid([]byte(value)) {
			b.WriteString(value)
			return
		}
	case "!!bool":
		b.WriteString(strings.ToLower(value))
		return
	}
	writeString(b, value)
}

func writeAll[T any](b *strings.Builder, open, end byte, items []T, write func(T) bool) bool {
	b.WriteByte(open)
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		if !write(item) {
			return false
		}
	}
	b.WriteByte(end)
	return true
}

func writeString(b *strings.Builder, s string) {
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err == nil {
		b.WriteString(strings.TrimSuffix(quoted.String(), "\n"))
	}
}

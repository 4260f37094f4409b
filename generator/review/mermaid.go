package review

import (
	"strconv"
	"strings"
)

// mermaid writes a diagram in Mermaid's language, which GitHub draws.
func mermaid(actors []actor, events []event) string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	for _, a := range actors {
		b.WriteString("    participant " + actorID(a) + " as " + actorNames[a] + "\n")
	}
	depth := 1
	for _, e := range events {
		if e.kind == orElse || e.kind == end {
			depth--
		}
		b.WriteString(strings.Repeat("    ", depth) + mermaidLine(e) + "\n")
		if e.kind == alt || e.kind == orElse {
			depth++
		}
	}
	return b.String()
}

func actorID(a actor) string { return strings.ReplaceAll(actorNames[a], " ", "") }

func mermaidLine(e event) string {
	text := mermaidText(e.text)
	switch e.kind {
	case send:
		return actorID(e.from) + "->>" + actorID(e.to) + ": " + text
	case reply:
		return actorID(e.from) + "-->>" + actorID(e.to) + ": " + text
	case note:
		return "Note over " + actorID(e.from) + ": " + text
	case alt:
		return "alt " + text
	case orElse:
		return "else " + text
	case end:
	}
	return "end"
}

// mermaidText keeps a text inside its line: what ends a statement, begins a
// comment, an entity or HTML is written as an entity, which Mermaid spells with
// # in place of &. Control characters have become spaces.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		switch r {
		case '#', ';', '<', '>', '%', '"', '&', '\\', '`':
			b.WriteString("#" + strconv.Itoa(int(r)) + ";")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// maxTopic is the length of a topic in bytes: what brokers take, and an index.
const maxTopic = 200

// isTopic reports whether s can be the topic of an event: letters, digits and
// . _ - / :, which every broker takes.
func isTopic(s string) bool {
	outside := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("._-/:", r)
	}
	return s != "" && len(s) <= maxTopic && !strings.ContainsFunc(s, outside)
}

var outboxOptions = []string{"key", "if", "columns"}

const columnsHint = "write columns with commas and without spaces: columns=a,b"

// parseOutbox reads TOPIC [key=COLUMN] [if=COLUMN] [columns=a,b].
func parseOutbox(a *args, topic Name, d *Declarations) {
	e := Event{Topic: topic}
	seen := map[string]diag.Pos{}
	for f, ok := a.take(); ok; f, ok = a.take() {
		option, value, isPair := f.pair()
		if !isPair {
			entry := a.fail(diag.AnnotationForm, a.pos(f), "%s has an argument too many: %s", a.name(), f.text)
			if e.Columns != nil {
				entry.Hint("%s", columnsHint)
			}
			return
		}
		name := Name{Value: option, Pos: a.at(f.offset, len(option))}
		if first, twice := seen[option]; twice {
			a.repeated(name, first)
			return
		}
		seen[option] = name.Pos
		if !a.eventOption(&e, name, value) {
			return
		}
	}
	d.Outbox = append(d.Outbox, e)
}

// eventOption sets one of key, if and columns.
func (a *args) eventOption(e *Event, option Name, value field) bool {
	if !slices.Contains(outboxOptions, option.Value) {
		entry := a.fail(diag.AnnotationForm, option.Pos, "unknown option %s of %s", option.Value, a.name())
		if near := diag.Nearest(option.Value, outboxOptions); near != "" {
			entry.Hint("did you mean %s=?", near)
		}
		return false
	}
	columns, ok := a.columnList(option.Value, value)
	if !ok {
		return false
	}
	if option.Value != "columns" && len(columns) > 1 {
		a.fail(diag.AnnotationForm, columns[1].Pos, "%s= names one column", option.Value)
		return false
	}
	switch option.Value {
	case "key":
		e.Key = &columns[0]
	case "if":
		e.If = &columns[0]
	default:
		e.Columns = columns
	}
	return true
}

// columnList reads a list of columns, each of them once.
func (a *args) columnList(option string, value field) ([]Name, bool) {
	text, offset := value.text, value.offset
	if inner, ok := unquote(text); ok && text[0] == '"' {
		text, offset = inner, offset+1 // an alias as SQL writes it: "customer.name"
	}
	var out []Name
	for part := range strings.SplitSeq(text, ",") {
		name := Name{Value: part, Pos: a.at(offset, max(len(part), 1))}
		offset += len(part) + 1
		switch {
		case part == "":
			a.fail(diag.AnnotationForm, name.Pos, "%s= has no column here", option).Hint("%s", columnsHint)
			return nil, false
		case !isDotted(part):
			a.fail(diag.AnnotationForm, name.Pos, "%q is not the name of a column", part)
			return nil, false
		}
		if first := named(out, part); first != nil {
			a.repeated(name, first.Pos)
			return nil, false
		}
		out = append(out, name)
	}
	return out, true
}

package spec

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// parseExample takes the whole text: one JSON document.
func parseExample(a *args, d *Declarations) {
	text := strings.TrimSpace(a.text.Value)
	if text == "" {
		a.fail(diag.ExampleForm, a.end(), "%s is missing a JSON document", a.name())
		return
	}
	start := strings.Index(a.text.Value, text)
	var value json.RawMessage // numbers of any size are fine
	err := json.Unmarshal([]byte(text), &value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset := min(max(int(syntax.Offset)-1, 0), len(text)-1)
		a.fail(diag.ExampleForm, a.at(start+offset, 1), "the example is not JSON: %s", syntax.Error()).
			Hint("names and texts stand in double quotes, and nothing follows the document")
		return
	}
	if err != nil {
		a.fail(diag.ExampleForm, a.at(start, len(text)), "the example is not JSON: %s", err.Error())
		return
	}
	if name, offset, ok := RepeatedMember(text); ok {
		a.fail(diag.ExampleForm, a.at(start+offset, len(name)+2), "the member %s of the example stands twice", name).
			Hint("keep one of the two: a request that repeats a member is refused")
		return
	}
	d.Example = &Text{Value: text, Pos: a.at(start, len(text))}
}

// RepeatedMember finds the first member that an object of a valid JSON document
// has twice, and the offset of its second name. Readers of JSON keep one of the
// two without a word (RFC 8259 section 4), and not all of them the same one.
func RepeatedMember(document string) (name string, offset int, found bool) {
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	var open []*members
	for {
		before := int(decoder.InputOffset())
		token, err := decoder.Token()
		if err != nil {
			return "", 0, false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open = append(open, &members{object: token == json.Delim('{'), named: map[string]bool{}})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if text, ok := token.(string); ok && len(open) > 0 && open[len(open)-1].repeats(text) {
				return text, before + strings.IndexByte(document[before:], '"'), true
			}
		}
		if len(open) > 0 {
			open[len(open)-1].valued()
		}
	}
}

// members are those of an object that is open, or an open list.
type members struct {
	object bool
	inside bool // a name was read, its value comes next
	named  map[string]bool
}

// repeats takes a text, and reports whether it is a name that was there.
func (m *members) repeats(text string) bool {
	if !m.object || m.inside {
		return false
	}
	twice := m.named[text]
	m.named[text] = true
	return twice
}

// valued says that a token ended: a name is followed by its value, a value by
// the next name.
func (m *members) valued() { m.inside = m.object && !m.inside }

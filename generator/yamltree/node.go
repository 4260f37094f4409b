package yamltree

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/diag"
)

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   Scalar
	Value Node
}

// Scalar is a text with its place.
type Scalar struct {
	Value string
	Pos   diag.Pos
	// Exact: Value stands in the file as it is, byte by byte from Pos on.
	// Quoted texts with escapes and block scalars don't.
	Exact bool
	// Plain: written without quotes.
	Plain bool
	// Tag is the YAML type: !!str, !!int, !!float, !!bool.
	Tag string
}

// Pos is the node's place.
func (n Node) Pos() diag.Pos {
	if n.node.Kind == yaml.ScalarNode {
		return n.scalar().Pos
	}
	return n.file.pos(n.node, 1)
}

// IsMap reports whether n is a mapping.
func (n Node) IsMap() bool { return n.node.Kind == yaml.MappingNode }

// IsList reports whether n is a sequence.
func (n Node) IsList() bool { return n.node.Kind == yaml.SequenceNode }

// IsNull reports whether nothing stands there.
func (n Node) IsNull() bool { return n.node.Kind == yaml.ScalarNode && n.node.Tag == "!!null" }

// Kind names the node's form for messages.
func (n Node) Kind() string {
	switch {
	case n.IsMap():
		return "a mapping"
	case n.IsList():
		return "a list"
	case n.IsNull():
		return "nothing"
	}
	return "a single value"
}

// Text returns the text of a scalar, and false for anything else.
func (n Node) Text() (Scalar, bool) {
	if n.node.Kind != yaml.ScalarNode || n.IsNull() {
		return Scalar{}, false
	}
	return n.scalar(), true
}

func (n Node) scalar() Scalar {
	s := Scalar{Value: n.node.Value, Tag: n.node.Tag, Pos: n.file.pos(n.node, len(n.node.Value))}
	line := n.file.lines[s.Pos.Line-1][s.Pos.Col-1:]
	s.Plain = n.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch {
	case s.Plain && strings.HasPrefix(line, s.Value):
		s.Exact = true
	case line != "" && (line[0] == '"' || line[0] == '\'') && strings.HasPrefix(line[1:], s.Value+line[:1]):
		s.Exact = true
		s.Pos.Col++
	default:
		s.Pos.Width = 1
	}
	return s
}

// List returns the elements of a sequence, and false for anything else.
func (n Node) List() ([]Node, bool) {
	if !n.IsList() || !n.enter() {
		return nil, false
	}
	out := make([]Node, len(n.node.Content))
	for i, c := range n.node.Content {
		out[i] = n.file.wrap(c, n.depth+1)
	}
	return out, true
}

// Map returns the entries of a mapping in the order written, and false for
// anything else. Repeated keys and keys that are no texts are reported and left
// out. Merge keys (<<) are followed; what stands in the mapping itself wins.
func (n Node) Map() ([]Entry, bool) {
	if !n.IsMap() || !n.enter() {
		return nil, false
	}
	var own, merged []Entry
	for i := 0; i+1 < len(n.node.Content); i += 2 {
		key, value := n.file.wrap(n.node.Content[i], n.depth+1), n.file.wrap(n.node.Content[i+1], n.depth+1)
		if key.node.Tag == "!!merge" {
			merged = append(merged, value.mergedEntries()...)
			continue
		}
		own = n.file.addEntry(own, key, value)
	}
	for _, e := range merged {
		if find(own, e.Key.Value) < 0 {
			own = append(own, e)
		}
	}
	return own, true
}

func (f *file) addEntry(entries []Entry, key, value Node) []Entry {
	text, ok := key.Text()
	if !ok {
		f.diags.Errorf(diag.ConfigValue, key.Pos(), "a key must be a name, this is %s", key.Kind()).
			Hint("write NAME: VALUE")
		return entries
	}
	if first := find(entries, text.Value); first >= 0 {
		f.diags.Errorf(diag.ConfigKey, text.Pos, "%q stands twice", text.Value).
			Hint("it stands first in line %d; keep one of the two", entries[first].Key.Pos.Line)
		return entries
	}
	return append(entries, Entry{Key: text, Value: value})
}

func (n Node) mergedEntries() []Entry {
	if elements, ok := n.List(); ok {
		var all []Entry
		for _, e := range elements {
			all = append(all, e.mergedEntries()...)
		}
		return all
	}
	entries, ok := n.Map()
	if !ok {
		n.file.diags.Errorf(diag.ConfigValue, n.Pos(), "<< merges mappings, this is %s", n.Kind()).
			Hint("write <<: *NAME, with a mapping at &NAME")
	}
	return entries
}

// Raw is a mapping with all below it as the YAML library decodes it, to be passed
// on to another program. It reports false, after a diagnostic, for what the
// library refuses: keys that stand twice further down, aliases without end.
func (n Node) Raw() (map[string]any, bool) {
	raw := map[string]any{}
	err := n.node.Decode(&raw)
	var values *yaml.TypeError
	if errors.As(err, &values) && len(values.Errors) > 0 {
		err = errors.New(values.Errors[0])
	}
	if err != nil {
		n.file.syntax(err)
	}
	return raw, err == nil
}

func find(entries []Entry, key string) int {
	return slices.IndexFunc(entries, func(e Entry) bool { return e.Key.Value == key })
}

// Unknown reports every entry whose key is not in known, with the nearest one,
// and returns the others.
func Unknown(entries []Entry, known []string, where string, diags *diag.List) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		if slices.Contains(known, e.Key.Value) {
			return false
		}
		entry := diags.Errorf(diag.ConfigKey, e.Key.Pos, "unknown key %q in %s", e.Key.Value, where)
		if near := diag.Nearest(e.Key.Value, known); near != "" {
			entry.Hint("did you mean %s?", near)
		} else {
			entry.Hint("known keys: %s", strings.Join(known, ", "))
		}
		return true
	})
}

// Misspelt are the known keys that unknown ones were probably meant to be.
// Unknown reports them, so they need not be missed too.
func Misspelt(entries []Entry, known []string) []string {
	var out []string
	for _, e := range entries {
		if near := diag.Nearest(e.Key.Value, known); near != "" && !slices.Contains(known, e.Key.Value) {
			out = append(out, near)
		}
	}
	return out
}

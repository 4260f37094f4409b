package openapi

import (
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is a member of an object. One without a value is left out.
type entry struct {
	name  string
	value *yaml.Node
}

// object is a mapping in the order written, nil if no entry has a value.
func object(entries ...entry) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, e := range entries {
		if e.value != nil {
			n.Content = append(n.Content, text(e.name), e.value)
		}
	}
	if len(n.Content) == 0 {
		return nil
	}
	return n
}

// list is a sequence, nil if it has no element.
func list(items []*yaml.Node) *yaml.Node {
	if len(items) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

func emptyList() *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
}

func emptyObject() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
}

// texts is a short list on one line.
func texts(values []string) *yaml.Node {
	items := make([]*yaml.Node, len(values))
	for i, v := range values {
		items[i] = text(v)
	}
	n := list(items)
	if n != nil {
		n.Style = yaml.FlowStyle
	}
	return n
}

// text is a string, quoted where YAML would take it for something else.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.ContainsAny(s, "\n\r\t\u0085\u2028\u2029") && strings.TrimSpace(s) != s {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// optional is a string that is left out where it is empty.
func optional(s string) *yaml.Node {
	if s == "" {
		return nil
	}
	return text(s)
}

func boolean(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}

// trueOnly is true, or left out.
func trueOnly(b bool) *yaml.Node {
	if !b {
		return nil
	}
	return boolean(true)
}

func integer(n int64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(n, 10)}
}

// number is a number as it is written in SQL or JSON, nil for what is none.
func number(s string) *yaml.Node {
	if !json.Valid([]byte(s)) || strings.IndexFunc(s, func(r rune) bool { return r == '-' || r >= '0' && r <= '9' }) != 0 {
		return nil
	}
	tag := "!!int"
	if strings.ContainsAny(s, ".eE") {
		tag = "!!float"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}
}

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

func ref(section, name string) *yaml.Node {
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return object(entry{"$ref", text("#/components/" + section + "/" + escaped)})
}

// fromJSON is a JSON document with its members in the order written and its
// numbers as they are, nil for what is none.
func fromJSON(document string) *yaml.Node {
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	n, err := readJSON(decoder)
	if err != nil {
		return nil
	}
	return n
}

func readJSON(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		return readNested(decoder, v)
	case string:
		return text(v), nil
	case bool:
		return boolean(v), nil
	case json.Number:
		return number(v.String()), nil
	}
	return null(), nil
}

func readNested(decoder *json.Decoder, open json.Delim) (*yaml.Node, error) {
	n := emptyList()
	if open == '{' {
		n = emptyObject()
	}
	for decoder.More() {
		child, err := readJSON(decoder) // in an object: a name
		if err != nil {
			return nil, err
		}
		n.Style = 0
		n.Content = append(n.Content, child)
	}
	_, err := decoder.Token()
	return n, err
}

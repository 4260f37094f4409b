package openapi

import (
	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// form is what the service says about JSON.
type form struct {
	bigintString bool
	open         bool // unknown members are ignored
}

func formOf(svc *model.Service) form {
	return form{bigintString: svc.JSON.BigintString, open: svc.UnknownFields}
}

// side tells requests from answers: what is accepted is more than what is sent.
type side uint8

const (
	asked side = iota
	answered
)

// schema is the schema of a node.
func (f form) schema(n *contract.Node, s side) *yaml.Node {
	switch n.Form {
	case contract.FormObject:
		return f.object(n, s, n.Nullable)
	case contract.FormList:
		types := []string{"array"}
		if n.Nullable {
			types = append(types, typeNull)
		}
		return object(
			entry{"type", typeList(types)},
			entry{"items", f.object(n, s, false)},
			entry{"default", f.defaultOf(n)},
		)
	case contract.FormValue:
	}
	return f.value(n, s)
}

const typeNull = "null"

func (f form) object(n *contract.Node, s side, nullable bool) *yaml.Node {
	var required []string
	members := make([]entry, len(n.Members))
	for i, m := range n.Members {
		members[i] = entry{m.Name, f.schema(m, s)}
		if m.Required {
			required = append(required, m.Name)
		}
	}
	types := []string{"object"}
	if nullable {
		types = append(types, typeNull)
	}
	closed := boolean(false)
	if s == asked && f.open || s == answered {
		closed = nil
	}
	return object(
		entry{"type", typeList(types)},
		entry{"required", texts(required)},
		entry{"properties", object(members...)},
		entry{"additionalProperties", closed},
	)
}

func typeList(types []string) *yaml.Node {
	if len(types) == 1 {
		return text(types[0])
	}
	return texts(types)
}

// value is the schema of a single value, or of an array of them.
func (f form) value(n *contract.Node, s side) *yaml.Node {
	t := n.Type
	if !t.Array {
		return f.scalar(t, s, n.Nullable, f.defaultOf(n))
	}
	types := []string{"array"}
	if n.Nullable {
		types = append(types, typeNull)
	}
	return object(
		entry{"type", typeList(types)},
		entry{"items", f.scalar(t, s, true, nil)},
		entry{"default", f.defaultOf(n)},
	)
}

// defaultOf is the value of an input that a request leaves out, nil for none.
func (f form) defaultOf(n *contract.Node) *yaml.Node {
	if n.Default == nil {
		return nil
	}
	if n.Type.Array {
		return nil // PostgreSQL's array literal has no JSON form of its own
	}
	switch n.Type.Kind {
	case model.KindInt2, model.KindInt4, model.KindFloat4, model.KindFloat8, model.KindBool, model.KindJSON, model.KindRecord:
		return fromJSON(*n.Default)
	case model.KindInt8:
		if !f.bigintString {
			return fromJSON(*n.Default)
		}
	}
	return text(*n.Default)
}

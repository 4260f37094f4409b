package contract

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// Node is a value in a request or an answer: a parameter, a member, a whole body.
type Node struct {
	Name   string // as it is written in JSON
	GoName string
	Form   Form
	Type   model.Type // FormValue
	// Required: it is always there. In answers every member is.
	Required bool
	Nullable bool
	Default  *string // canonical text
	Asked    bool    // null and absent mean different things
	Members  []*Node // FormObject; of an element for FormList
}

// Form tells nodes apart.
type Form uint8

// The forms of a node.
const (
	FormValue Form = iota
	FormObject
	FormList // an array of objects
)

// requestBody is the body that an operation takes, nil for none.
func requestBody(op *model.Operation) *Node {
	root := &Node{Form: FormObject, Required: true}
	for _, in := range op.Inputs {
		if in.From != model.FromBody {
			continue
		}
		leaf := inputNode(in)
		if op.BodyWhole {
			return leaf
		}
		root.insert(in.Name, leaf)
	}
	if len(root.Members) == 0 {
		return nil
	}
	for _, m := range root.Members {
		m.settle()
	}
	return root
}

// settle says which objects must be there: those with a member that must. Null
// in place of another is the object without members.
func (n *Node) settle() {
	if n.Form != FormObject || n.Type.Kind == model.KindRecord {
		return
	}
	for _, m := range n.Members {
		m.settle()
		n.Required = n.Required || m.Required
	}
	n.Nullable = !n.Required
}

func inputNode(in *model.Input) *Node {
	n := typeNode(in.Type)
	n.Name, n.GoName = in.Name, in.GoName
	n.Required, n.Nullable, n.Default, n.Asked = isRequired(in), in.Nullable, in.Default, in.HasAsked
	return n
}

// typeNode is the node of a type: records are objects.
func typeNode(t model.Type) *Node {
	n := &Node{Type: t, Nullable: t.Nullable}
	if t.Kind != model.KindRecord {
		return n
	}
	n.Form = FormObject
	if t.List {
		n.Form = FormList
	}
	for _, m := range t.Members {
		child := typeNode(m.Type)
		child.Name, child.GoName, child.Required = m.Name, m.GoName, m.Required && !m.Type.Nullable
		n.Members = append(n.Members, child)
	}
	return n
}

// insert adds a node under its dotted name: the parts before the last are
// objects.
func (n *Node) insert(name string, leaf *Node) {
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		n = n.object(part)
	}
	leaf.Name = parts[last]
	if last > 0 {
		leaf.GoName = leaf.GoName[strings.LastIndexByte(leaf.GoName, '.')+1:]
	}
	n.Members = append(n.Members, leaf)
}

// object finds or adds the object called name.
func (n *Node) object(name string) *Node {
	i := slices.IndexFunc(n.Members, func(c *Node) bool { return c.Form == FormObject && c.Name == name })
	if i >= 0 {
		return n.Members[i]
	}
	c := &Node{Form: FormObject, Name: name}
	n.Members = append(n.Members, c)
	return c
}

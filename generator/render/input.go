package render

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// inputTree is the emitted input struct of an operation, and the expressions of
// its inputs in the order of the operation's fields, the caller's apart.
func inputTree(op *model.Operation, im *imports) (*node, string) {
	root := &node{}
	var leaves []*node
	for _, in := range op.Inputs {
		if in.From == model.FromCaller {
			continue
		}
		leaf := valueNode(in.GoName, in.Type, !in.Required, im)
		if in.Default != nil || in.HasAsked {
			makeOptional(leaf, in.Type, im)
		}
		leaves = append(leaves, leaf)
		insertInput(root, in, leaf)
	}
	root.resolve("in", "e")
	fields := make([]string, len(leaves))
	for i, leaf := range leaves {
		fields[i] = leaf.field
	}
	return root, strings.Join(fields, ", ")
}

// insertInput places an input. Only members of the body nest: a dot in another
// name means nothing.
func insertInput(root *node, in *model.Input, leaf *node) {
	name := in.Name
	switch {
	case name == "":
		name = "body" // the whole document
	case in.From != model.FromBody:
		name = strings.ReplaceAll(name, ".", "_")
	}
	root.insert(name, leaf)
}

// makeOptional wraps a value that may be absent in another way than null is.
// Records and lists say it by nil.
func makeOptional(leaf *node, t model.Type, im *imports) {
	if leaf.form != formValue {
		return
	}
	leaf.goType = "idem.Optional[" + im.use(goType(t, false)) + "]"
}

// valueNode is the node of an input, or of a member of a record.
func valueNode(field string, t model.Type, absent bool, im *imports) *node {
	leaf := &node{goName: field, kind: t.Kind, array: t.Array}
	if t.Kind != model.KindRecord {
		leaf.goType = im.use(goType(t, absent))
		return leaf
	}
	leaf.form = formRecord
	leaf.optional = absent
	if t.List {
		leaf.form = formList
	}
	for _, m := range t.Members {
		child := valueNode(m.GoName, m.Type, !m.Required, im)
		child.name = m.Name
		if child.goName == "" {
			child.goName = goName(m.Name)
		}
		leaf.children = append(leaf.children, child)
	}
	return leaf
}

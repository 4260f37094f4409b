package contract

import "github.com/idemgen/idemgen/generator/model"

// Arguments is what an operation takes as a tool: all that a request brings,
// wherever it stands over HTTP, in one object.
func Arguments(op *model.Operation) *Node {
	root := &Node{Form: FormObject, Required: true}
	for _, in := range op.Inputs {
		if in.From == model.FromCaller {
			continue
		}
		leaf, name := inputNode(in), in.Name
		if name == "" {
			name, leaf.GoName = model.WholeArgument, model.WholeArgument
		}
		root.insert(name, leaf)
	}
	for _, m := range root.Members {
		m.settle()
	}
	return root
}

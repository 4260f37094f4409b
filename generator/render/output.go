package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// outputTree is the emitted output struct of an operation.
func outputTree(svc *model.Service, op *model.Operation, im *imports) (*node, error) {
	b := outputBuilder{svc: svc, op: op, im: im}
	root := &node{}
	if err := b.answer(root, op.Response); err != nil {
		return nil, err
	}
	root.resolve("o", "o")
	return root, nil
}

type outputBuilder struct {
	svc *model.Service
	op  *model.Operation
	im  *imports
}

// answer fills the root: its rows are wrapped as `json:` says.
func (b outputBuilder) answer(root *node, r model.Response) error {
	switch r.Kind {
	case model.ResponseStep:
		return b.wholeStep(root, r)
	case model.ResponseColumn:
		leaf, err := b.column(r)
		if err != nil {
			return err
		}
		leaf.goName = "Value"
		root.children = append(root.children, leaf)
	case model.ResponseObject:
		return b.object(root, r)
	case model.ResponseNone:
	}
	return nil
}

func (b outputBuilder) wholeStep(root *node, r model.Response) error {
	step, err := findStep(b.op, r.Step)
	if err != nil {
		return err
	}
	into := root
	switch {
	case returnsMany(step):
		into = &node{form: formList, name: b.svc.JSON.Many, goName: "Items", elem: "Item"}
		if b.svc.JSON.Many != "" {
			into.goName = goName(b.svc.JSON.Many)
		}
		root.children = append(root.children, into)
	case b.svc.JSON.One != "":
		into = root.object(b.svc.JSON.One)
	}
	b.columns(into, step)
	return nil
}

func (b outputBuilder) object(parent *node, r model.Response) error {
	for _, m := range r.Members {
		child, err := b.member(m)
		if err != nil {
			return err
		}
		child.name, child.goName = m.Name, goName(m.Name)
		parent.children = append(parent.children, child)
	}
	return nil
}

func (b outputBuilder) member(m model.ResponseMember) (*node, error) {
	switch m.Value.Kind {
	case model.ResponseColumn:
		return b.column(m.Value)
	case model.ResponseObject:
		child := &node{form: formObject}
		return child, b.object(child, m.Value)
	case model.ResponseStep, model.ResponseNone:
	}
	step, err := findStep(b.op, m.Value.Step)
	if err != nil {
		return nil, err
	}
	child := &node{form: formObject}
	if returnsMany(step) {
		child.form = formList
	}
	b.columns(child, step)
	return child, nil
}

// column is one column of a step: of its only row, or of every row.
func (b outputBuilder) column(r model.Response) (*node, error) {
	step, err := findStep(b.op, r.Step)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(step.Query.Columns, func(c model.Column) bool { return c.Name == r.Column })
	if i < 0 {
		return nil, fmt.Errorf("operation %s: step %s returns no column %s", b.op.Name, r.Step, r.Column)
	}
	leaf := b.leaf(step.Query.Columns[i])
	if returnsMany(step) {
		leaf.array, leaf.goType = true, "[]"+leaf.goType
	}
	return leaf, nil
}

// columns adds what a row shows.
func (b outputBuilder) columns(into *node, step *model.Step) {
	for _, c := range step.Query.Columns {
		if hidden(step, c.Name) {
			continue
		}
		if c.Embed == nil {
			into.insert(memberName(c), b.leaf(c))
			continue
		}
		object := into.object(memberName(c))
		if c.GoName != "" {
			object.goName = c.GoName
		}
		for _, e := range c.Embed {
			if !hidden(step, c.Name+"."+e.Name) {
				object.insert(memberName(e), b.leaf(e))
			}
		}
	}
}

func (b outputBuilder) leaf(c model.Column) *node {
	return &node{goName: c.GoName, goType: b.im.use(goType(c.Type, false)), kind: c.Type.Kind, array: c.Type.Array}
}

// memberName is a column's name as clients read it.
func memberName(c model.Column) string {
	if c.JSON != "" {
		return c.JSON
	}
	return c.Name
}

// hidden reports whether a column is for the runtime only.
func hidden(step *model.Step, column string) bool {
	return slices.ContainsFunc(step.Omit, func(o string) bool { return sameColumn(o, column) }) ||
		slices.ContainsFunc(step.Requires, func(r model.Require) bool { return sameColumn(r.Column, column) }) ||
		slices.ContainsFunc(step.Statuses, func(s model.StatusRule) bool { return sameColumn(s.Column, column) }) ||
		slices.ContainsFunc(step.Events, func(e model.Event) bool { return e.If != "" && sameColumn(e.If, column) })
}

// sameColumn compares names as the plan does: a declaration may write a column
// as the statement returns it or in the service's JSON case.
func sameColumn(a, b string) bool {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	return plain(a) == plain(b)
}

// returnsMany reports whether the answer of a step is a list.
func returnsMany(step *model.Step) bool {
	return step.Each != nil || step.Query.Command == "many" || step.Query.Command == "batchmany"
}

func findStep(op *model.Operation, name string) (*model.Step, error) {
	i := stepIndex(op, name)
	if i < 0 {
		return nil, fmt.Errorf("operation %s has no step %s", op.Name, name)
	}
	return op.Steps[i], nil
}

func stepIndex(op *model.Operation, name string) int {
	return slices.IndexFunc(op.Steps, func(s *model.Step) bool { return s.Name == name })
}

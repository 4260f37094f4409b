package contract

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// responseBody is the body of a success, nil for none.
func responseBody(svc *model.Service, op *model.Operation) *Node {
	switch op.Response.Kind {
	case model.ResponseStep:
		if step := findStep(op, op.Response.Step); step != nil && hasRow(step) {
			return wholeStep(svc, step)
		}
	case model.ResponseColumn:
		return columnOf(op, op.Response)
	case model.ResponseObject:
		return objectOf(op, op.Response)
	case model.ResponseNone:
	}
	return nil
}

// wholeStep is the row of a step, or all of them, wrapped as `json:` says.
func wholeStep(svc *model.Service, step *model.Step) *Node {
	row := rowOf(step)
	switch {
	case returnsMany(step):
		row.Form, row.Name = FormList, svc.JSON.Many
		return &Node{Form: FormObject, Required: true, Members: []*Node{row}}
	case svc.JSON.One != "":
		row.Name = svc.JSON.One
		return &Node{Form: FormObject, Required: true, Members: []*Node{row}}
	}
	return row
}

// rowOf is what a step's row shows: the resource that a business intent found.
func rowOf(step *model.Step) *Node {
	row := &Node{Form: FormObject, Required: true}
	for _, c := range step.Query.Columns {
		if hidden(step, c.Name) {
			continue
		}
		if c.Embed == nil {
			row.insert(memberName(c), columnNode(c))
			continue
		}
		object := row.object(memberName(c))
		object.GoName = c.GoName
		for _, e := range c.Embed {
			if !hidden(step, c.Name+"."+e.Name) {
				object.insert(memberName(e), columnNode(e))
			}
		}
	}
	row.require()
	return row
}

// require marks all objects below as always there.
func (n *Node) require() {
	n.Required = true
	for _, m := range n.Members {
		if m.Form == FormObject {
			m.require()
		}
	}
}

func columnNode(c model.Column) *Node {
	n := typeNode(c.Type)
	n.Name, n.GoName, n.Required = memberName(c), c.GoName, true
	return n
}

func objectOf(op *model.Operation, r model.Response) *Node {
	n := &Node{Form: FormObject, Required: true}
	for _, m := range r.Members {
		if child := memberOf(op, m.Value); child != nil {
			child.Name, child.GoName = m.Name, ""
			n.Members = append(n.Members, child)
		}
	}
	return n
}

func memberOf(op *model.Operation, r model.Response) *Node {
	switch r.Kind {
	case model.ResponseColumn:
		return columnOf(op, r)
	case model.ResponseObject:
		return objectOf(op, r)
	case model.ResponseStep, model.ResponseNone:
	}
	step := findStep(op, r.Step)
	if step == nil {
		return nil
	}
	row := rowOf(step)
	if returnsMany(step) {
		row.Form = FormList
	} else {
		row.Nullable = step.Empty.Fine && step.Go == nil
	}
	return row
}

func columnOf(op *model.Operation, r model.Response) *Node {
	step := findStep(op, r.Step)
	if step == nil {
		return nil
	}
	i := slices.IndexFunc(step.Query.Columns, func(c model.Column) bool { return c.Name == r.Column })
	if i < 0 {
		return nil
	}
	n := columnNode(step.Query.Columns[i])
	if step.Empty.Fine && step.Go == nil {
		n.Nullable = true
	}
	return n
}

func findStep(op *model.Operation, name string) *model.Step {
	i := slices.IndexFunc(op.Steps, func(s *model.Step) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return op.Steps[i]
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
	within := func(name string) bool { return column == name || strings.HasPrefix(column, name+".") }
	return slices.ContainsFunc(step.Omit, within) ||
		slices.ContainsFunc(step.Requires, func(r model.Require) bool { return within(r.Column) }) ||
		slices.ContainsFunc(step.Statuses, func(s model.StatusRule) bool { return within(s.Column) })
}

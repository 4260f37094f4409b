package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// clientAsync is what the client of an async operation has beside the call.
type clientAsync struct {
	Status, Await string // methods
	Output        string // type of what it answers when it is done
	Void          bool   // that is nothing
	MayBeNull     bool
	In            bool   // the path has parameters of the operation's own
	Call          string // expression: the call that asks for the status
}

// async makes the call answer that the request is accepted, and adds the methods
// that follow it.
func (c *clientEmitter) async(op *contract.Operation, view *clientOperation, im *imports) {
	c.output(op.Outcome.Answers, view, im)
	a := &clientAsync{Output: view.Output, MayBeNull: view.MayBeNull}
	a.Status, a.Await = c.method(view.GoName+"Status"), c.method("Await"+view.GoName)
	if a.Output == "" {
		a.Output, a.Void = "struct{}", true
	}
	a.In = slices.ContainsFunc(op.Params, func(p *contract.Param) bool { return p.In == model.FromPath })
	values := append(slices.Clone(view.Values), "event")
	a.Call = fmt.Sprintf("core.Call{Operation: %s, Method: %s, Path: core.Path(%s, %s), Options: opts}",
		text(op.Status.Model.Name), text(op.Status.Model.Method), text(op.Status.Path), strings.Join(values, ", "))
	view.Output, view.MayBeNull, view.Async = "Accepted", false, a
}

// method takes a name that no other method has.
func (c *clientEmitter) method(name string) string {
	for c.methodNames[name] {
		name += "Call"
	}
	c.methodNames[name] = true
	return name
}

// laterProblems are those that an async operation fails with after its answer.
func laterProblems(op *contract.Operation) []contract.Problem {
	if op.Outcome == nil {
		return nil
	}
	return append(slices.Clone(op.Outcome.Problems), op.Status.Problems...)
}

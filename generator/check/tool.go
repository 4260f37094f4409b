package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// onlyTool reports whether the operation is a tool and has no route.
func (b *builder) onlyTool() bool { return b.d.words.Tool != nil && b.d.words.HTTP.Path == "" }

// readingTool reports whether the operation is a tool alone that changes nothing:
// what is a GET among routes.
func (b *builder) readingTool() bool { return b.onlyTool() && b.op.ReadOnly() }

// tool makes the operation one that agents call, where it is one. It is the last
// thing that is settled: its hints are told by all the others.
func (b *builder) tool() {
	decl := b.d.words.Tool
	if decl == nil {
		return
	}
	t := &model.Tool{Name: decl.Name.Value, Description: decl.Description}
	if t.Description == "" {
		t.Description = b.op.Description
	}
	if t.Description == "" {
		b.diags.Errorf(diag.AnnotationForm, decl.Pos, "the tool %s has no description, which is all that an agent knows of it", t.Name).
			Hint("write @tool %s \"what it is for\", or describe the query", t.Name)
	}
	t.Destructive = slices.ContainsFunc(b.op.Steps, mayDestroy)
	t.OpenWorld = slices.ContainsFunc(b.op.Steps, func(s *model.Step) bool { return s.Go != nil })
	b.toolKey(t)
	b.arguments(t)
	if b.op.Async && b.onlyTool() {
		b.diags.Errorf(diag.RouteForm, *b.d.words.Async, "%s is a tool alone, and nothing would say how far it has come", b.op.Name).
			Hint("add @http POST /path, where GET /path/{event_id} says it; or remove @async")
	}
	b.op.Tool = t
	if b.onlyTool() {
		b.op.Method, b.op.Path = model.MethodTool, t.Name
	}
}

// mayDestroy reports whether a step may change or delete what is there. Functions
// and triggers may: nobody has read them.
func mayDestroy(s *model.Step) bool {
	shape := &s.Query.Shape
	return s.Go != nil || shape.Rewrites || shape.Calls || shape.TargetTraits.OtherWrites || shape.TargetTraits.Rules
}

// toolKey refuses a tool that writes and has no key: agents repeat calls.
func (b *builder) toolKey(t *model.Tool) {
	if b.op.Key.Protects() {
		_, taken := b.inputs[inputKey{model.FromBody, keyArgument}]
		t.KeyArgument = b.op.Key.From == "header" && !taken
		return
	}
	if b.op.ReadOnly() {
		return
	}
	pos := b.d.words.Tool.Pos
	if b.d.words.Key != nil {
		pos = b.d.words.Key.Pos
	}
	b.diags.Errorf(diag.KeyRule, pos, "the tool %s writes and has no key: an agent that repeats a call would do it twice", t.Name).
		Hint("write @key header: the key comes with the call, or is made of session and step; or @key intent")
}

// keyArgument is the argument that a key may come as.
const keyArgument = "idempotency_key"

// arguments refuses inputs that can't stand in one object, which is what a tool
// takes.
func (b *builder) arguments(t *model.Tool) {
	taken := map[string]*model.Input{}
	for _, in := range b.op.Inputs {
		if in.From == model.FromCaller {
			continue
		}
		name := in.Name
		if name == "" {
			name = model.WholeArgument
		}
		if in.Name == "" && in.Type.Kind == model.KindBytea {
			b.diags.Errorf(diag.BindType, in.Pos, "the body of %s is bytes, and the arguments of the tool %s are JSON", b.op.Name, t.Name).
				Hint("bind a member: body.NAME, which is base64")
		}
		for other, at := range taken {
			if other == name || strings.HasPrefix(other, name+".") || strings.HasPrefix(name, other+".") {
				b.diags.Errorf(diag.NameCollision, in.Pos, "%s.%s and %s.%s are one argument of the tool %s, which takes both in one object", at.From, other, in.From, name, t.Name).
					Hint("give one of the two another name")
				return
			}
		}
		taken[name] = in
	}
}

// tools refuses two tools of one name.
func (c *checker) tools() {
	known := map[string]*model.Operation{}
	for _, op := range c.svc.Operations {
		if op.Tool == nil {
			continue
		}
		if other := known[op.Tool.Name]; other != nil {
			c.diags.Errorf(diag.NameCollision, op.Pos, "%s and %s are both the tool %s", other.Name, op.Name, op.Tool.Name).
				Hint("give one of the two another name")
		}
		known[op.Tool.Name] = op
	}
}

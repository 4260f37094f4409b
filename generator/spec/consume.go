package spec

import "github.com/idemgen/idemgen/generator/diag"

// Consume is @consume: the topic that messages come from, and the types of those that
// are for this operation; none: all that no other operation takes.
type Consume struct {
	Pos   diag.Pos
	Topic Name
	Types []Name
}

// parseConsume reads TOPIC [TYPE …]. Messages are bodies without a route, so inputs
// are bound as those of a POST.
func parseConsume(a *args, d *Declarations) {
	f, ok := a.need("a topic")
	if !ok {
		return
	}
	if !isTopic(f.text) {
		a.fail(diag.AnnotationForm, a.pos(f), "%q is not a topic: letters, digits and . _ - / :, at most %d", f.text, maxTopic)
		return
	}
	c := &Consume{Pos: a.pos(f), Topic: a.named(f)}
	if c.Types, ok = a.deliveryTypes("the type of a message"); !ok {
		return
	}
	if d.HTTP != nil {
		a.twoWays(c.Pos, d)
		return
	}
	d.Consume = c
	d.HTTP = &HTTP{Pos: c.Pos, Method: "POST", Path: "/", PathPos: c.Pos}
}

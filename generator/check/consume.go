package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// consumer makes the operation one that takes messages, where it is one. Nobody reads
// the answer, so a success is a 200 or 204.
func (b *builder) consumer() {
	decl := b.d.words.Consume
	if decl == nil {
		return
	}
	taken := &model.Consumer{Topic: decl.Topic.Value}
	for _, t := range decl.Types {
		taken.Types = append(taken.Types, t.Value)
	}
	b.op.Consumer = taken
	if b.op.Status == 201 {
		b.op.Status = 200
	}
}

// messageKey: the message's id, or what @key makes of the message where its broker
// gives none. Without a key nothing is consumed.
func (b *builder) messageKey(decl *spec.Key) {
	b.op.Key = model.Key{From: "message"}
	if decl == nil {
		return
	}
	switch decl.From {
	case "intent":
		b.op.Key.From = decl.From
		b.intentAsKey(decl)
	case "source":
		b.op.Key.From = decl.From
		b.op.Key.Source = b.keySource(decl)
	default:
		b.keyError(decl, "the key of a consumer is the id of its message", "remove @key; where the broker gives no id, write @key body.NAME")
		return
	}
	b.prefix(decl)
}

// notOfMessage refuses parts of a request that no message has.
func (b *builder) notOfMessage(src spec.Source) bool {
	if b.d.words.Consume == nil || src.Kind != spec.SourcePath && src.Kind != spec.SourceQuery {
		return false
	}
	b.diags.Errorf(diag.BindUnknown, src.Pos, "%s is a consumer, which has no %s.%s", b.op.Name, src.Kind, src.Path[0]).
		Hint("bind the parameter to body.NAME or header.NAME of the message")
	return true
}

// noRoute ends what stood for a route while inputs were bound.
func (b *builder) noRoute() {
	if b.op.Consumer != nil {
		b.op.Method, b.op.Path = model.ConsumeMethod, b.op.Consumer.Topic
	}
}

// messages refuses two operations that one message could be for.
func (c *checker) messages() {
	takes := map[[2]string]*model.Operation{} // by topic and type; type "" for the rest
	for _, op := range c.svc.Operations {
		if op.Consumer == nil {
			continue
		}
		topic, types := op.Consumer.Topic, op.Consumer.Types
		if len(types) == 0 {
			types = []string{""}
		}
		for _, t := range slices.Sorted(slices.Values(types)) {
			key := [2]string{topic, t}
			switch other := takes[key]; {
			case other != nil && t == "":
				c.diags.Errorf(diag.RouteConflict, op.Pos, "%s and %s both take every message of %s", other.Name, op.Name, topic).
					Hint("name the types that are for each: @consume %s TYPE …", topic)
			case other != nil:
				c.diags.Errorf(diag.RouteConflict, op.Pos, "%s and %s both take messages of %s of type %s", other.Name, op.Name, topic, t).
					Hint("name each type once; one endpoint of several steps does two things for one message")
			}
			takes[key] = op
		}
	}
}

package review

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// outside compares what an operation has to do with other systems.
func (c *comparison) outside(was, now *Operation) {
	if was.Async != now.Async {
		c.find("async-changed", "it is done %s, was done %s", now.when(), was.when())
	}
	c.calls(was, now)
	c.events(was, now)
}

func (op *Operation) when() string {
	if op.Async {
		return "later, after a 202"
	}
	return "at once"
}

func (c *comparison) calls(was, now *Operation) {
	for _, s := range now.Steps {
		if s.Call == nil {
			continue
		}
		i := slices.IndexFunc(was.Steps, func(old Step) bool { return old.Call != nil && old.Name == s.Name })
		if i < 0 {
			c.find("call-added", "%s", s.callText())
			continue
		}
		old := was.Steps[i].Call
		if old.Undo != "" && s.Call.Undo == "" {
			c.find("undo-dropped", "%s: %s took it back", s.Name, old.Undo)
		}
		if old.Unknown != s.Call.Unknown {
			c.find("unknown-changed", "%s: an unknown outcome: %s, was %s", s.Name, s.Call.Unknown, old.Unknown)
		}
	}
	for _, s := range was.Steps {
		if s.Call != nil && !slices.ContainsFunc(now.Steps, func(n Step) bool { return n.Call != nil && n.Name == s.Name }) {
			c.find("call-removed", "%s, by %s", s.Name, s.Function)
		}
	}
}

// events pairs those of both sides by step and topic; what is left, by step.
func (c *comparison) events(was, now *Operation) {
	same := func(e Event) func(Event) bool {
		return func(o Event) bool { return o.Step == e.Step && o.Topic == e.Topic }
	}
	var fresh []Event
	for _, e := range now.Events {
		i := slices.IndexFunc(was.Events, same(e))
		if i < 0 {
			fresh = append(fresh, e)
			continue
		}
		c.event(was.Events[i], e)
	}
	for _, old := range was.Events {
		if slices.ContainsFunc(now.Events, same(old)) {
			continue
		}
		i := slices.IndexFunc(fresh, func(e Event) bool { return e.Step == old.Step })
		if i < 0 {
			c.find("event-dropped", "%s", old.text())
			continue
		}
		c.find("event-topic", "%s, was %s", fresh[i].Topic, old.Topic)
		c.event(old, fresh[i])
		fresh = slices.Delete(fresh, i, i+1)
	}
	for _, e := range fresh {
		c.find("event-added", "%s", e.text())
	}
}

func (c *comparison) event(was, now Event) {
	if was.Key != now.Key {
		c.find("event-order", "%s: ordered by %s, was by %s", now.Topic, orNone(now.Key), orNone(was.Key))
	}
	if was.If != now.If {
		c.find("event-condition", "%s: only if %s, was if %s", now.Topic, orAlways(now.If), orAlways(was.If))
	}
	if gone := missing(was.Columns, now.Columns); len(gone) > 0 && len(now.Columns) > 0 {
		c.find("event-payload", "%s: %s gone from the payload", now.Topic, strings.Join(gone, ", "))
	}
}

func orAlways(column string) string {
	if column == "" {
		return "always"
	}
	return column
}

// webhooks finds types of deliveries that another operation takes, or none.
func (c *comparison) webhooks(was, now *Document) {
	before, after := was.takers(), now.takers()
	var types []string
	for kind := range before {
		types = append(types, kind)
	}
	slices.Sort(types)
	for _, kind := range types {
		switch taker := after[kind]; {
		case taker == nil:
			c.op, c.pos = "", diag.Pos{}
			c.find("webhook-dropped", "%s: %s took it, nobody does", kind, before[kind].Name)
		case taker.Stored != before[kind].Stored:
			c.op, c.pos = taker.Name, taker.Pos
			c.find("webhook-moved", "%s: %s takes it, was %s", kind, taker.Name, before[kind].Name)
		}
	}
	c.op, c.pos = "", diag.Pos{}
}

// takers are the operations by "system type"; the type of one that takes the
// rest is "*".
func (d *Document) takers() map[string]*Operation {
	out := map[string]*Operation{}
	for _, op := range d.Operations {
		if op.Webhook == nil {
			continue
		}
		types := op.Webhook.Types
		if len(types) == 0 {
			types = []string{"*"}
		}
		for _, t := range types {
			out[op.Webhook.System+" "+t] = op
		}
	}
	return out
}

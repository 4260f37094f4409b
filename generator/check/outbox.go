package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// events resolves the @outbox words of every step.
func (b *builder) events() {
	for i, step := range b.op.Steps {
		for _, e := range b.d.steps[i].words.Outbox {
			if b.canEmit(step, e) {
				step.Events = append(step.Events, b.event(step, e))
			}
		}
	}
}

// canEmit reports why a step can have no events at all.
func (b *builder) canEmit(step *model.Step, e spec.Event) bool {
	switch {
	case !b.op.Key.Protects():
		b.diags.Errorf(diag.KeyRule, e.Topic.Pos, "@outbox %s needs a key, and %s has none: the same request would tell of itself twice", e.Topic.Value, b.op.Name).
			Hint("%s", keyForEvents(b.op.Method))
	case !commandHasRow(step.Query):
		b.diags.Errorf(diag.EventForm, e.Topic.Pos, "@outbox %s is made of a row, and %s is :%s, which returns none", e.Topic.Value, step.Query.Name, step.Query.Command).
			Hint("make the query :one, with RETURNING")
	case step.Query.Shape.TargetTraits.Rules:
		b.diags.Errorf(diag.EventForm, e.Topic.Pos, "@outbox %s can't be written by %s: the table %s has rules, and PostgreSQL refuses the statement inside WITH",
			e.Topic.Value, step.Query.Name, step.Query.Shape.Target).
			Hint("write an endpoint spec, and let a step of its own, a SELECT of the row, have the @outbox")
	default:
		return true
	}
	return false
}

func keyForEvents(method string) string {
	if method == "GET" || method == "HEAD" {
		return "remove it: a " + method + " reads, and has no key"
	}
	return "add @key header, or remove @outbox"
}

// event resolves one word.
func (b *builder) event(step *model.Step, e spec.Event) model.Event {
	out := model.Event{Topic: e.Topic.Value, Pos: e.Topic.Pos, Label: eventLabel(step, e.Topic.Value)}
	if e.Key != nil {
		out.Key = e.Key.Value
		b.orderKey(step, *e.Key)
	}
	if e.If != nil {
		out.If = e.If.Value
		b.boolean(step, *e.If, "@outbox if=")
	}
	for _, name := range e.Columns {
		if !hasColumn(step.Query, name.Value) {
			b.eventColumn(step, name, "columns")
			continue
		}
		out.Columns = append(out.Columns, name.Value)
	}
	b.payloadMembers(step, e)
	return out
}

// eventLabel is stable when other events come or go: the step, the topic, and
// which of the step's events of this topic it is.
func eventLabel(step *model.Step, topic string) string {
	n := 1
	for _, other := range step.Events {
		if other.Topic == topic {
			n++
		}
	}
	return step.Name + " " + topic + " " + strconv.Itoa(n)
}

// orderKey checks the column that events are ordered by.
func (b *builder) orderKey(step *model.Step, name spec.Name) {
	i := slices.IndexFunc(step.Query.Columns, func(c model.Column) bool { return c.Name == name.Value })
	switch {
	case !hasColumn(step.Query, name.Value):
		b.eventColumn(step, name, "key")
	case i >= 0 && len(step.Query.Columns[i].Embed) > 0:
		b.diags.Errorf(diag.ColumnUnknown, name.Pos, "key=%s names a whole row, and one column orders events", name.Value).
			Hint("name a column of it: key=%s.%s", name.Value, step.Query.Columns[i].Embed[0].Name)
	}
}

func (b *builder) eventColumn(step *model.Step, name spec.Name, option string) {
	b.diags.Errorf(diag.ColumnUnknown, name.Pos, "%s= names the column %s, which %s does not return", option, name.Value, step.Query.Name).
		Hint("%s", returnHint(step.Query, name.Value))
}

// payloadMembers refuses two columns that would be one member of the payload.
func (b *builder) payloadMembers(step *model.Step, e spec.Event) {
	seen := map[string]string{}
	for _, name := range e.Columns {
		for _, member := range payloadNames(step.Query, name.Value) {
			for other, column := range seen {
				if other == member || strings.HasPrefix(other, member+".") || strings.HasPrefix(member, other+".") {
					b.diags.Errorf(diag.NameCollision, name.Pos, "columns %s and %s would be one member of the payload", column, name.Value).
						Hint("leave one of them out, or name it with AS")
				}
			}
			seen[member] = name.Value
		}
	}
}

// payloadNames are the JSON members of a column, or of EMBED and EMBED.COLUMN.
func payloadNames(q *model.Query, name string) []string {
	var out []string
	for _, c := range q.Columns {
		if c.Name == name && c.Embed == nil {
			out = append(out, c.JSON)
		}
		for _, e := range c.Embed {
			if c.Name == name || c.Name+"."+e.Name == name {
				out = append(out, c.JSON+"."+e.JSON)
			}
		}
	}
	return out
}

package check

import (
	"slices"
	"time"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// webhook makes the operation a receiver, where it is one. Senders ask only whether
// they are to send again, so a success is a 200 or 204.
func (b *builder) webhook() {
	decl := b.d.words.Webhook
	if decl == nil {
		return
	}
	hook := &model.Webhook{System: decl.System.Value}
	for _, t := range decl.Types {
		hook.Types = append(hook.Types, t.Value)
	}
	b.op.Webhook = hook
	if b.op.Status == 201 {
		b.op.Status = 200
	}
}

// deliveryKey: the delivery's id, and nothing else.
func (b *builder) deliveryKey(decl *spec.Key) {
	b.op.Key = model.Key{From: "delivery"}
	if decl != nil {
		b.keyError(decl, "the key of a webhook is the id of its delivery", "remove @key; for what must happen once whatever the id, declare an @intent")
	}
}

// deliveryKept is how long successes of webhooks are kept, unless their own policy
// says otherwise: senders redeliver for days, and by hand for weeks.
const deliveryKept = 30 * 24 * time.Hour

// deliveryPolicy is what differs for webhooks, whatever the profile and the
// defaults: a failure is not acknowledged and not recorded, and nothing is forced.
func deliveryPolicy() *spec.Policy {
	kept, never, off := deliveryKept, time.Duration(0), false
	return &spec.Policy{Success: &kept, ServerError: &never, ForceRetry: &off}
}

// noCaller refuses fields of the caller in a webhook or consumer, the scope apart: the
// verifier or the broker says whose a delivery is, and nothing else is known of who sent it.
func (b *builder) noCaller(src spec.Source) bool {
	if b.d.words.Webhook == nil && b.d.words.Consume == nil || src.Path[0] == b.scopeField() {
		return false
	}
	is, of, says := "a webhook", "delivery", "the verifier"
	if b.d.words.Consume != nil {
		is, of, says = "a consumer", "message", "Options.MessageScope"
	}
	b.diags.Errorf(diag.BindUnknown, src.Pos, "%s is %s, which has no caller.%s", b.op.Name, is, src.Path[0]).
		Hint("bind the parameter to body.NAME or header.NAME of the %s; `scope` is what %s says", of, says)
	return true
}

// deliveries refuses two operations that one delivery could be for.
func (c *checker) deliveries() {
	takes := map[string]*model.Operation{} // by system and type; type "" for the rest
	for _, op := range c.svc.Operations {
		if op.Webhook == nil {
			continue
		}
		types := op.Webhook.Types
		if len(types) == 0 {
			types = []string{""}
		}
		for _, t := range slices.Sorted(slices.Values(types)) {
			key := op.Webhook.System + " " + t
			other := takes[key]
			switch {
			case other != nil && t == "":
				c.diags.Errorf(diag.RouteConflict, op.Pos, "%s and %s both take every delivery of %s", other.Name, op.Name, op.Webhook.System).
					Hint("name the types that are for each: @webhook %s TYPE …", op.Webhook.System)
			case other != nil:
				c.diags.Errorf(diag.RouteConflict, op.Pos, "%s and %s both take deliveries of %s of type %s", other.Name, op.Name, op.Webhook.System, t).
					Hint("name each type once; one endpoint of several steps does two things for one delivery")
			}
			takes[key] = op
		}
	}
}

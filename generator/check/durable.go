package check

import (
	"net/http"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// outsideCall is what a step says of its call; nil for a `go:` step.
func outsideCall(g *spec.GoCall) *model.Call {
	if g.Outside == nil {
		return nil
	}
	out := &model.Call{Hold: g.Outside.Hold, Lease: g.Outside.Lease}
	if g.Outside.Undo != nil {
		out.Undo, out.UndoPos = g.Outside.Undo.Value, g.Outside.Undo.Pos
	}
	return out
}

// durable refuses what an operation can't have that commits in between, or is
// done later: its progress is kept under the key, and its inputs beside it.
func (b *builder) durable() {
	if !b.op.Durable() {
		return
	}
	pos, what := b.durableAt()
	refuse := func(code diag.Code, pos diag.Pos, hint, message string, args ...any) {
		b.diags.Errorf(code, pos, message, args...).Hint("%s", hint)
	}
	if b.op.Webhook != nil {
		refuse(diag.KeyRule, pos, "let the webhook write down what came, with an event by @outbox for what takes longer",
			"%s is for requests of clients, and this is a webhook", what)
	}
	if b.op.Consumer != nil {
		refuse(diag.KeyRule, pos, "let the consumer write down what came, with an event by @outbox for what takes longer",
			"%s is for requests of clients, and this is a consumer of messages", what)
	}
	switch key := b.d.words.Key; {
	case b.op.Delivered():
	case isRead(b.op.Method):
		refuse(diag.RouteForm, pos, "use POST, PUT, PATCH or DELETE", "%s is for what changes something, and %s must change nothing", what, b.op.Method)
	case !b.op.Key.Protects() && key != nil:
		refuse(diag.KeyRule, key.Pos, "write key: header, or another source", "%s needs a key: what is done already is remembered under it", what)
	case !b.op.Key.Protects():
		refuse(diag.KeyRule, pos, "add @key header", "%s needs a key: what is done already is remembered under it", what)
	}
	if b.op.Policy.Sealed {
		d := b.set(func(d *spec.Policy) bool { return d.Record != nil })
		refuse(diag.PolicyForm, b.policyPos(d, "record"), "write record=none: the answer is not kept, and the inputs only until the work is done",
			"record=sealed of %s can't be: %s keeps the request's inputs and the results so far as they are until it is done", b.op.Name, what)
	}
	if b.op.Policy.ForceRetry {
		d := b.set(func(d *spec.Policy) bool { return d.ForceRetry != nil })
		refuse(diag.PolicyForm, b.policyPos(d, "force_retry"), "write force_retry=off for this operation; a new key runs it again",
			"%s can't be forced to run again: %s is continued, never begun anew", b.op.Name, what)
		b.op.Policy.ForceRetry = false
	}
}

// durableAt is the word that makes an operation durable.
func (b *builder) durableAt() (diag.Pos, string) {
	if at := b.d.words.Async; at != nil {
		if b.d.spec {
			return *at, "`async:`"
		}
		return *at, "@async"
	}
	for i, step := range b.op.Steps {
		if step.IsCall() {
			return b.d.steps[i].call.Func.Pos, "a `call:` step"
		}
	}
	return b.op.Pos, "it"
}

// recordedHTTP is the route with the status that the recorded response has. An
// async operation answers with 202 at once, whatever is recorded later.
func (b *builder) recordedHTTP(h *spec.HTTP) *spec.HTTP {
	if !b.op.Async || h.Status != http.StatusAccepted {
		return h
	}
	out := *h
	out.Status = 0
	return &out
}

// statusRoutes refuses async operations whose status would be at the route of
// another operation, or of the status of another.
func (c *checker) statusRoutes(seen map[string]string) {
	for _, op := range c.svc.Operations {
		if !op.Async {
			continue
		}
		_, shape := parsePath(op.Path)
		route := "GET " + shape + "/{}"
		if other, ok := seen[route]; ok {
			c.diags.Errorf(diag.RouteConflict, op.Pos, "the status of %s is at GET %s/{event_id}, where %s is", op.Name, op.Path, other).
				Hint("change one of the two paths, as in %s %s/requests: a request in the background is a resource of its own", op.Method, op.Path)
			continue
		}
		seen[route] = "the status of " + op.Name
	}
}

// refuseCallRule refuses a rule about statements on a call, which runs none.
func (b *builder) refuseCallRule(step *model.Step, r spec.ErrorRule) bool {
	b.diags.Errorf(diag.ConstraintUnused, r.Name.Pos, "%s calls another system and runs no statement, so it can't violate %s", step.Name, r.Name.Value).
		Hint("name a code that the function returns, as in card_declined: 402; or move the rule to a query step")
	return true
}

// undos refuses functions that take back calls and meet others: each takes what
// its call takes and returned.
func (c *checker) undos() {
	type use struct {
		call string
		pos  diag.Pos
	}
	first, functions := map[string]use{}, map[string]*model.Step{}
	for _, op := range c.svc.Operations {
		for _, step := range op.Steps {
			if step.Go != nil {
				functions[step.Go.Func] = step
			}
		}
	}
	for _, op := range c.svc.Operations {
		for _, step := range op.Steps {
			if !step.IsCall() || step.Go.Call.Undo == "" {
				continue
			}
			name := step.Go.Call.Undo
			other, known := first[name]
			switch {
			case functions[name] != nil:
				c.diags.Errorf(diag.NameCollision, step.Go.Call.UndoPos, "the Go function %s takes a call back here, and is a step at %s", name, functions[name].Pos).
					Hint("give one of the two another name")
			case known && other.call != step.Go.Func:
				c.diags.Errorf(diag.NameCollision, step.Go.Call.UndoPos, "the Go function %s takes back %s here and %s at %s, whose types differ", name, step.Go.Func, other.call, other.pos).
					Hint("give one of the two another name")
			}
			first[name] = use{step.Go.Func, step.Go.Call.UndoPos}
		}
	}
}

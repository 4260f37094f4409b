package check

import (
	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// forceRetry refuses force_retry=on where it could do nothing, or only fail.
func (b *builder) forceRetry() {
	if !b.op.Policy.ForceRetry {
		return
	}
	d := b.set(func(d *spec.Policy) bool { return d.ForceRetry != nil })
	refuse := func(hint, message string, args ...any) {
		b.diags.Errorf(diag.PolicyForm, b.policyPos(d, "force_retry"), message, args...).Hint("%s", hint)
	}
	switch {
	case b.op.Consumer != nil:
		refuse("remove it: a message is delivered by its broker", "%s is a consumer, which nobody forces to run again", b.op.Name)
		return
	case b.op.Webhook != nil:
		refuse("remove it: a delivery is sent by another system", "%s is a webhook, which nobody forces to run again", b.op.Name)
		return
	case b.in.Config.Profile != config.ProfileGateway:
		refuse("use profile: gateway, or remove it: a new key runs the operation again",
			"force_retry=on is in profile gateway only, and this service has profile %s", b.in.Config.Profile)
	case !b.op.Key.Protects() && d == b.d.words.Policy:
		refuse("remove it: without a key every request runs", "%s has no key, so there is no record to run it again under", b.op.Name)
	case !b.op.Key.Protects():
		return // of defaults, which speak of the others
	}
	for _, step := range b.op.Steps {
		if step.Intent != nil && step.Query.Shape.Kind == model.Insert {
			refuse("write @policy force_retry=off for this operation, or remove the @intent",
				"%s can't be forced to run again: %s would meet the row that its intent %s allows only once", b.op.Name, step.Query.Name, step.Intent.Table.Name)
		}
	}
}

// recordless clears what is said about records where there are none: defaults
// speak of every operation. What the operation itself says of its record is an
// error: its answers are not kept, so nothing seals them.
func (b *builder) recordless() {
	if !b.op.Key.Protects() {
		own := b.d.words.Policy
		if b.op.Policy.Sealed && own != nil && own.Record != nil {
			b.diags.Errorf(diag.PolicyForm, b.policyPos(own, "record"), "%s has no key, so there is no record to seal", b.op.Name).
				Hint("remove record=sealed, or give the operation a key")
		}
		b.op.Policy.ForceRetry, b.op.Policy.Sealed = false, false
	}
}

package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// policies are those that may set a key, the nearest first: annotation or spec,
// `defaults:`, the profile, which sets every key.
func (b *builder) policies() []*spec.Policy {
	all := []*spec.Policy{&b.in.Config.Defaults, &b.profile}
	if b.op.Delivered() {
		all = slices.Insert(all, 0, deliveryPolicy())
	}
	if b.d.words.Policy != nil {
		all = slices.Insert(all, 0, b.d.words.Policy)
	}
	return all
}

// policy applies the policies, the nearest last.
func (b *builder) policy() {
	var p model.Policy
	for _, d := range slices.Backward(b.policies()) {
		apply(&p, d)
	}
	b.op.Policy = p
	b.policyForm(p)
}

func apply(p *model.Policy, d *spec.Policy) {
	assign(&p.Success, d.Success)
	assign(&p.ClientError, d.ClientError)
	assign(&p.ServerError, d.ServerError)
	assign(&p.Timeout, d.Timeout)
	assign(&p.MaxBody, d.MaxBody)
	assign(&p.Isolation, d.Isolation)
	assign(&p.ForceRetry, d.ForceRetry)
	if d.Inflight != nil {
		p.Wait = d.Inflight.Wait
	}
	if d.Record != nil {
		p.RecordBody, p.Sealed = *d.Record != "none", *d.Record == "sealed"
	}
}

func assign[T any](into *T, from *T) {
	if from != nil {
		*into = *from
	}
}

// set finds the nearest policy that sets a key.
func (b *builder) set(has func(*spec.Policy) bool) *spec.Policy {
	for _, d := range b.policies() {
		if has(d) {
			return d
		}
	}
	return nil
}

// policyPos is where a key stands, or the nearest place to it.
func (b *builder) policyPos(d *spec.Policy, key string) diag.Pos {
	for _, p := range []*spec.Policy{d, b.d.words.Policy, &b.in.Config.Defaults} {
		if p == nil {
			continue
		}
		if pos, ok := p.At[key]; ok {
			return pos
		}
		if !p.Pos.IsZero() {
			return p.Pos
		}
	}
	return b.op.Pos
}

// policyForm refuses durations that contradict each other. A definite answer
// is kept for at least twice the timeout, so that a late first attempt finds it.
func (b *builder) policyForm(p model.Policy) {
	refuse := func(key string, d *spec.Policy, hint, message string, args ...any) {
		b.diags.Errorf(diag.PolicyForm, b.policyPos(d, key), message, args...).Hint("%s", hint)
	}
	least := 2 * p.Timeout
	if p.Success < least {
		refuse("success", b.set(func(d *spec.Policy) bool { return d.Success != nil }), "keep it for "+least.String()+" or more, or lower timeout",
			"success=%s is less than twice the timeout of %s", p.Success, p.Timeout)
	}
	if p.ClientError < least {
		refuse("client_error", b.set(func(d *spec.Policy) bool { return d.ClientError != nil }), "keep it for "+least.String()+" or more, or lower timeout",
			"client_error=%s is less than twice the timeout of %s", p.ClientError, p.Timeout)
	}
}

// fingerprint resolves which inputs count, once all are known.
func (b *builder) fingerprint() {
	d := b.set(func(d *spec.Policy) bool { return d.Fingerprint != nil })
	b.fingerprintNames(d)
	if b.op.Policy.NoPrint && b.op.Key.Protects() && !b.op.Delivered() && b.svc.ScopeSource.Kind == model.SourceNone {
		b.diags.Errorf(diag.KeyRule, b.policyPos(d, "fingerprint"), "without a scope, only the fingerprint keeps clients apart").
			Hint("%s", b.printHint(d))
	}
}

// printHint is the way out where nothing is compared, by what says so.
func (b *builder) printHint(d *spec.Policy) string {
	if d == &b.profile {
		return "profile " + b.in.Config.Profile + " compares nothing: add defaults: {fingerprint: all}, or set a scope"
	}
	return "remove fingerprint=none, or set a scope"
}

func (b *builder) fingerprintNames(d *spec.Policy) {
	var named, others []string
	for _, in := range b.op.Inputs {
		if b.isScope(model.Source{Kind: model.SourceInput, Input: in}) {
			continue
		}
		if slices.ContainsFunc(d.Fingerprint.Names, func(n spec.Name) bool { return covers(n.Value, in.Name) }) {
			named = append(named, in.Name)
		} else {
			others = append(others, in.Name)
		}
	}
	for _, n := range d.Fingerprint.Names {
		all := append(slices.Clone(named), others...)
		if d == b.d.words.Policy && !slices.ContainsFunc(all, func(name string) bool { return covers(n.Value, name) }) {
			b.diags.Errorf(diag.PolicyForm, n.Pos, "the fingerprint names %s, which is not an input of %s", n.Value, b.op.Name).
				Hint("%s", didYouMean(n.Value, all, "input"))
		}
	}
	if d != b.d.words.Policy && d.Fingerprint.Mode == "only" && len(named) == 0 && len(others) > 0 && b.op.Key.Protects() {
		b.diags.Errorf(diag.PolicyForm, b.policyPos(d, "fingerprint"), "the fingerprint of defaults names no input of %s: any other request would be answered with the record", b.op.Name).
			Hint("give the operation a @policy fingerprint of its own; fingerprint=none says that nothing is compared")
	}
	switch d.Fingerprint.Mode {
	case "none":
		b.op.Policy.NoPrint = true
	case "only":
		b.op.Policy.Fingerprint, b.op.Policy.NoPrint = named, len(named) == 0
	case "except":
		b.op.Policy.Fingerprint, b.op.Policy.NoPrint = others, len(others) == 0
	}
}

// covers reports whether a declared name is the input's, or an object that
// holds it.
func covers(declared, input string) bool {
	return input == declared || strings.HasPrefix(input, declared+".")
}

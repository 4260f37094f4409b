package spec

import (
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// policyKeys are the keys of a policy, each with a value that it may have.
var policyKeys = []struct{ name, example string }{
	{"success", "24h"}, {"client_error", "2h"}, {"server_error", "0s"}, {"inflight", "wait:2s"}, {"fingerprint", "only(a,b)"},
	{"isolation", "serializable"}, {"timeout", "30s"}, {"max_body", "1MiB"}, {"record", "full"}, {"force_retry", "on"},
}

// PolicyKeys are the keys of @policy, of `policy:` and of `defaults:`.
func PolicyKeys() []string {
	names := make([]string, len(policyKeys))
	for i, k := range policyKeys {
		names[i] = k.name
	}
	return names
}

func policyExample(key string) string {
	for _, k := range policyKeys {
		if k.name == key {
			return k.example
		}
	}
	return ""
}

const maxKept = 3650 * 24 * time.Hour

// parsePolicy reads KEY=VALUE pairs.
func parsePolicy(a *args, d *Declarations) {
	p := &Policy{Pos: a.wordAt, At: map[string]diag.Pos{}}
	if len(a.fields) > 0 {
		p.Pos = a.pos(a.fields[0])
	}
	if _, ok := a.need("a pair KEY=VALUE"); !ok {
		return
	}
	for _, f := range a.fields {
		key, value, ok := f.pair()
		if !ok {
			a.badPair(f)
			return
		}
		if !a.policyValue(p, Name{Value: key, Pos: a.at(f.offset, len(key))}, value) {
			return
		}
	}
	d.Policy = p
}

func (a *args) badPair(f field) {
	entry := a.fail(diag.PolicyForm, a.pos(f), "%s is not a pair KEY=VALUE", f.text)
	if key, value, ok := strings.Cut(f.text, ":"); ok && isIdent(key) {
		entry.Hint("write %s=%s", key, value)
	}
}

// policyValue sets one key of a policy.
func (a *args) policyValue(p *Policy, key Name, f field) bool {
	set, known := map[string]func() bool{
		"success":      func() bool { return a.duration(f, 0, maxKept, &p.Success) },
		"client_error": func() bool { return a.duration(f, 0, maxKept, &p.ClientError) },
		"server_error": func() bool { return a.duration(f, 0, maxKept, &p.ServerError) },
		"timeout":      func() bool { return a.duration(f, time.Millisecond, 24*time.Hour, &p.Timeout) },
		"max_body":     func() bool { return a.size(f, &p.MaxBody) },
		"inflight":     func() bool { return a.inflight(f, p) },
		"fingerprint":  func() bool { return a.fingerprint(f, p) },
		"isolation":    func() bool { return a.isolation(f, p) },
		"record":       func() bool { return a.oneOf(f, &p.Record, "full", "sealed", "none") },
		"force_retry":  func() bool { return a.forceRetry(f, p) },
	}[key.Value]
	if !known {
		entry := a.fail(diag.PolicyForm, key.Pos, "unknown policy %s", key.Value)
		if near := diag.Nearest(key.Value, PolicyKeys()); near != "" {
			entry.Hint("did you mean %s?", near)
		} else {
			entry.Hint("policies are %s", strings.Join(PolicyKeys(), ", "))
		}
		return false
	}
	if first, twice := p.At[key.Value]; twice {
		a.repeated(key, first)
		return false
	}
	p.At[key.Value] = key.Pos
	return set()
}

func (a *args) badValue(f field, hint, format string, v ...any) bool {
	a.failed = true
	code := diag.PolicyForm
	if a.where == inConfig {
		code = diag.ConfigValue
	}
	a.diags.Errorf(code, a.pos(f), format, v...).Hint("%s", hint)
	return false
}

func (a *args) duration(f field, low, high time.Duration, target **time.Duration) bool {
	d, ok := parseDuration(f.text)
	switch {
	case !ok:
		return a.badValue(f, "write a number with a unit: 500ms, 30s, 5m, 24h, 30d, 1h30m", "%q is not a duration", f.text)
	case d < low:
		return a.badValue(f, "write at least "+low.String(), "%s is too short", f.text)
	case d > high:
		return a.badValue(f, "write at most "+high.String(), "%s is too long", f.text)
	}
	*target = &d
	return true
}

func (a *args) size(f field, target **int64) bool {
	n, ok := parseSize(f.text)
	switch {
	case !ok:
		return a.badValue(f, "write a whole number with a unit: 512B, 64KiB, 1MiB", "%q is not a size", f.text)
	case n < 1 || n > 1<<30:
		return a.badValue(f, "write a size from 1B to 1GiB", "%s is out of range", f.text)
	}
	*target = &n
	return true
}

func (a *args) inflight(f field, p *Policy) bool {
	const hint = "write wait:2s (a duplicate waits that long for the first) or reject"
	if f.text == "reject" {
		p.Inflight = &Inflight{}
		return true
	}
	text, ok := strings.CutPrefix(f.text, "wait:")
	d, valid := parseDuration(text)
	if !ok || !valid || d <= 0 || d > time.Hour {
		return a.badValue(f, hint, "%q is not a rule for requests in flight", f.text)
	}
	p.Inflight = &Inflight{Wait: d}
	return true
}

func (a *args) fingerprint(f field, p *Policy) bool {
	const hint = "write all, none, only(a,b) or except(a,b) with names of inputs"
	if f.text == "all" || f.text == "none" {
		p.Fingerprint = &Fingerprint{Mode: f.text}
		return true
	}
	mode, list, ok := strings.Cut(f.text, "(")
	list, closed := strings.CutSuffix(list, ")")
	if !ok || !closed || mode != "only" && mode != "except" {
		return a.badValue(f, hint, "%q is not a rule for the fingerprint", f.text)
	}
	print := &Fingerprint{Mode: mode}
	offset := f.offset + len(mode) + 1
	for part := range strings.SplitSeq(list, ",") {
		name := strings.TrimSpace(part)
		at := field{text: name, offset: offset + len(part) - len(strings.TrimLeft(part, " \t"))}
		offset += len(part) + 1
		if !isMember(name) && !isToken(name) {
			return a.badValue(at, hint, "%q is not the name of an input", name)
		}
		print.Names = append(print.Names, a.named(at))
	}
	p.Fingerprint = print
	return true
}

func (a *args) isolation(f field, p *Policy) bool {
	text := f.text
	if inner, ok := unquote(text); ok {
		text = inner
	}
	level := strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(text))
	switch level {
	case "read committed", "repeatable read", "serializable":
		p.Isolation = &level
		return true
	}
	return a.badValue(f, "write read_committed, repeatable_read or serializable", "%q is not an isolation level", f.text)
}

func (a *args) oneOf(f field, target **string, allowed ...string) bool {
	for _, s := range allowed {
		if f.text == s {
			*target = &s
			return true
		}
	}
	return a.badValue(f, "write "+strings.Join(allowed, " or "), "%q can't stand here", f.text)
}

func (a *args) forceRetry(f field, p *Policy) bool {
	if f.text == "on" || f.text == "off" {
		on := f.text == "on"
		p.ForceRetry = &on
		return true
	}
	return a.badValue(f, "write on or off", "%q is neither on nor off", f.text)
}

// ReadPolicy parses the entries of a YAML policy. Config says that they stand
// under `defaults:` of idemgen.yaml. Entries with unknown keys must have been
// removed by the caller, or are reported.
func ReadPolicy(at diag.Pos, entries []yamltree.Entry, config bool, diags *diag.List) *Policy {
	in := inEndpoint
	if config {
		in = inConfig
	}
	p := &Policy{Pos: at, At: map[string]diag.Pos{}}
	for _, e := range WholePolicy(entries, config, diags) {
		text, ok := e.Value.Text()
		if !ok {
			code := diag.SpecForm
			if config {
				code = diag.ConfigValue
			}
			diags.Errorf(code, e.Value.Pos(), "`%s:` takes a single value, this is %s", e.Key.Value, e.Value.Kind()).
				Hint("write %s: %s", e.Key.Value, policyExample(e.Key.Value))
			continue
		}
		a := &args{word: "policy", where: in, text: text, wordAt: e.Key.Pos, diags: diags}
		a.policyValue(p, Name{Value: e.Key.Value, Pos: e.Key.Pos}, field{text: text.Value})
	}
	return p
}

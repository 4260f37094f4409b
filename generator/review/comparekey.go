package review

import (
	"slices"
	"strings"
)

func (c *comparison) service(was, now *Document) {
	for _, rule := range []struct{ id, what, before, after string }{
		{"service-renamed", "the service", was.Service, now.Service},
		{"scope-changed", "the scope", was.Scope, now.Scope},
		{"profile-changed", "the profile", was.Profile, now.Profile},
		{"session-changed", "the session's settings", strings.Join(was.Session, ", "), strings.Join(now.Session, ", ")},
		{"json-changed", "the JSON style", was.JSON, now.JSON},
	} {
		if rule.before != rule.after {
			c.find(rule.id, "%s: %s, was %s", rule.what, orNone(rule.after), orNone(rule.before))
		}
	}
	if was.UnknownFields == "ignored" && now.UnknownFields == "refused" {
		c.find("unknown-refused", "unknown members are refused, were ignored")
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// strength orders keys by what they promise.
func (k Key) strength() int {
	switch {
	case k.From == "none":
		return 0
	case k.From == "header" && !k.Required:
		return 1
	}
	return 2
}

func (c *comparison) key(was, now *Operation) {
	before, after := was.Key.strength(), now.Key.strength()
	switch {
	case after < before:
		c.find("key-weakened", "the key is %s, was %s", now.keyWord(), was.keyWord())
	case after > before && now.Key.From == "header" && now.Key.Required:
		c.find("key-required", "the key is required, was %s", was.keyWord())
	case before > 0 && (was.Key.From != now.Key.From || was.Key.Source != now.Key.Source || was.Key.Prefix != now.Key.Prefix):
		c.find("key-changed", "the key is %s, was %s", now.keyText(), was.keyText())
	}
}

func (c *comparison) intents(was, now *Operation) {
	for _, old := range was.Intents {
		same := slices.IndexFunc(now.Intents, func(in Intent) bool { return in.covers(old) })
		table := slices.IndexFunc(now.Intents, func(in Intent) bool { return in.Table == old.Table })
		switch {
		case same >= 0 && now.Intents[same].On != old.On:
			c.find("answer-changed", "a request whose intent is done: %s, was %s", now.Intents[same].On, old.On)
		case same >= 0:
		case table >= 0:
			c.find("intent-changed", "%s, was %s", now.Intents[table].text(), old.text())
		default:
			c.find("intent-dropped", "%s is held no more", old.text())
		}
	}
	for _, in := range now.Intents {
		if !slices.ContainsFunc(was.Intents, func(old Intent) bool { return old.Table == in.Table }) {
			c.find("intent-added", "%s", in.text())
		}
	}
}

// covers reports whether both are the same intent, whatever holds it.
func (in Intent) covers(old Intent) bool {
	return in.Table == old.Table && in.Where == old.Where && slices.Equal(sorted(slices.Clone(in.Columns)), sorted(slices.Clone(old.Columns)))
}

// fingerprint finds what makes a recorded request count as another one: a
// member that no longer counts, or one that does and that every request has.
func (c *comparison) fingerprint(was, now *Operation) {
	before, after := was.Fingerprint, now.Fingerprint
	if was.Key.From == "none" || now.Key.From == "none" {
		return
	}
	gone, added := missing(before.Members, after.Members), missing(after.Members, before.Members)
	if before.Mode == "all" && after.Mode == "all" {
		added = slices.DeleteFunc(added, func(name string) bool { return !required(now.Inputs, name) })
	}
	switch {
	case (before.Mode == "none") != (after.Mode == "none"):
		c.find("fingerprint-changed", "what counts: %s, was %s", now.printText(), was.printText())
	case len(gone)+len(added) > 0:
		var parts []string
		for _, name := range added {
			parts = append(parts, name+" counts now")
		}
		for _, name := range gone {
			parts = append(parts, name+" counts no more")
		}
		c.find("fingerprint-changed", "%s", strings.Join(parts, ", "))
	}
}

func required(inputs []Input, name string) bool {
	return slices.ContainsFunc(inputs, func(in Input) bool { return in.Name == name && (in.Required || in.Default != "") })
}

// missing are the elements of a that b lacks.
func missing(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

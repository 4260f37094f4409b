package config

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// defaults sets what holds where the file says nothing.
func (r *reader) defaults() {
	r.cfg.Sqlc = []string{"sqlc.yaml"}
	r.cfg.Profile = ProfileIETF
	r.cfg.JSON = JSON{Case: "snake", Bigint: "number", Many: "items"}
	r.cfg.UnknownFields = "reject"
	optional := func() spec.Key { return spec.Key{From: "header", Required: ptr(false)} }
	r.cfg.DefaultKeys = map[string]spec.Key{
		"POST": {From: "header"}, "PATCH": {From: "header"},
		"PUT": optional(), "DELETE": optional(),
		"GET": {From: "none"}, "HEAD": {From: "none"},
	}
}

func ptr[T any](v T) *T { return &v }

// policy reads `defaults:`: key rules by method, and the keys of a policy.
func (r *reader) policy(e yamltree.Entry) {
	entries, ok := r.mapping(e, "defaults: {timeout: 30s}")
	if !ok {
		return
	}
	entries = spec.WholePolicy(entries, true, r.diags)
	entries = yamltree.Unknown(entries, defaultKeys(), "`defaults:`", r.diags)
	if i := slices.IndexFunc(entries, func(k yamltree.Entry) bool { return k.Key.Value == "key" }); i >= 0 {
		r.keyRules(entries[i])
		entries = slices.Delete(entries, i, i+1)
	}
	r.cfg.Defaults = *spec.ReadPolicy(e.Key.Pos, entries, true, r.diags)
}

func defaultKeys() []string { return append([]string{"key"}, spec.PolicyKeys()...) }

// keyRules reads `key: {POST: header, …}`.
func (r *reader) keyRules(e yamltree.Entry) {
	entries, ok := r.mapping(e, "key: {POST: header}")
	if !ok {
		return
	}
	for _, k := range entries {
		method := k.Key.Value
		if !slices.Contains(spec.Methods(), method) {
			hint := "methods are " + strings.Join(spec.Methods(), ", ")
			if near := diag.Nearest(method, spec.Methods()); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.bad(k.Key.Pos, hint, "%q is not a method that an operation can have", method)
			continue
		}
		s, ok := r.text(k, "header")
		if !ok {
			continue
		}
		if key := spec.ReadKey(s, r.diags); key != nil {
			r.cfg.DefaultKeys[method] = *key
		}
	}
}

func jsonKeys() []string { return []string{"case", "bigint", "one", "many"} }

// json reads how JSON looks.
func (r *reader) json(e yamltree.Entry) {
	entries, ok := r.mapping(e, "json: {case: snake}")
	if !ok {
		return
	}
	for _, k := range yamltree.Unknown(entries, jsonKeys(), "`json:`", r.diags) {
		switch k.Key.Value {
		case "case":
			r.oneOf(k, &r.cfg.JSON.Case, "snake", "camel")
		case "bigint":
			r.oneOf(k, &r.cfg.JSON.Bigint, "number", "string")
		case "one":
			r.member(k, &r.cfg.JSON.One, "payment", true)
		case "many":
			r.member(k, &r.cfg.JSON.Many, "items", false)
		}
	}
}

// member reads the name of a JSON member, which may be empty or not.
func (r *reader) member(e yamltree.Entry, target *string, example string, empty bool) {
	s, ok := r.text(e, example)
	switch {
	case !ok:
	case s.Value == "" && !empty:
		r.bad(e.Key.Pos, "write "+e.Key.Value+": items", "a list stands in a member of an object, so that members can be added later")
	case s.Value != "" && strings.ContainsFunc(s.Value, notMember):
		r.bad(s.Pos, "use letters, digits and _", "%q can't be the name of a member", s.Value)
	default:
		*target = s.Value
	}
}

func notMember(c rune) bool {
	return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

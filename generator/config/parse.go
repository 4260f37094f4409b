package config

import (
	"regexp"
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// topKeys are the keys of idemgen.yaml.
func topKeys() []string {
	return []string{"version", "service", "sqlc", "migrations", "specs", "package", "out", "client", "openapi", "profile",
		"scope", "bind", "session", "json", "unknown_fields", "defaults", "sweep", "eject"}
}

type reader struct {
	cfg    *Config
	module string
	root   yamltree.Node
	diags  *diag.List
	// misspelt are the keys that unknown ones were probably meant to be: they
	// are reported already.
	misspelt []string
}

func parse(file string, text []byte, module string, diags *diag.List) *Config {
	cfg := &Config{File: file, Pos: map[string]diag.Pos{}, places: map[place]diag.Pos{}}
	root, ok := yamltree.Parse(file, text, diags)
	if !ok {
		return cfg
	}
	r := &reader{cfg: cfg, module: module, root: root, diags: diags}
	entries, ok := root.Map()
	if !ok {
		if !root.IsMap() {
			r.bad(root.Pos(), "write version: 1 and the other keys", "the file is a mapping, this is %s", root.Kind())
		}
		return cfg
	}
	r.defaults()
	for _, e := range yamltree.Unknown(entries, topKeys(), "idemgen.yaml", diags) {
		cfg.Pos[e.Key.Value] = e.Key.Pos
		if e.Value.IsNull() {
			r.bad(e.Key.Pos, "give it one, or remove the key", "`%s:` has no value", e.Key.Value)
			continue
		}
		r.key(e)
	}
	r.misspelt = yamltree.Misspelt(entries, topKeys())
	r.required()
	r.derived()
	r.derivedOpenAPI()
	return cfg
}

// key reads one key of the file.
func (r *reader) key(e yamltree.Entry) {
	switch e.Key.Value {
	case "version":
		r.version(e)
	case "service":
		r.service(e)
	case "sqlc":
		r.sqlc(e)
	case "migrations":
		r.path(e, &r.cfg.Migrations, "db/migrations", true)
	case "specs":
		r.paths(e, &r.cfg.Specs, "[endpoints/*.yaml]")
	case "package":
		r.goPackage(e)
	case "out":
		r.path(e, &r.cfg.Out, "internal/api", false)
	case "client":
		r.client(e)
	case "openapi":
		r.openapi(e)
	case "profile":
		r.profile(e)
	case "scope":
		r.scope(e)
	case "bind":
		r.bind(e)
	case "session":
		r.session(e)
	case "json":
		r.json(e)
	case "unknown_fields":
		r.oneOf(e, &r.cfg.UnknownFields, "reject", "ignore")
	case "defaults":
		r.policy(e)
	case "sweep":
		r.sweep(e)
	case "eject":
		r.eject(e)
	}
}

// required reports the keys without which nothing can be generated.
func (r *reader) required() {
	for _, k := range []struct{ name, hint string }{
		{"version", "add version: 1"},
		{"migrations", "add migrations: db/migrations, the folder of the goose migrations"},
		{"out", "add out: internal/api, the folder of the emitted Go package"},
	} {
		if _, ok := r.cfg.Pos[k.name]; !ok {
			r.missing(diag.ConfigMissing, k.name, k.hint)
		}
	}
	if _, ok := r.cfg.Pos["scope"]; !ok {
		r.missing(diag.ScopeMissing, "scope", "add scope: caller.tenant_id, whose the keys are; or scope: none for a service without callers")
	}
}

func (r *reader) missing(code diag.Code, key, hint string) {
	if slices.Contains(r.misspelt, key) {
		return
	}
	pos := r.root.Pos()
	pos.Width = 0
	r.diags.Errorf(code, pos, "`%s:` is missing", key).Hint("%s", hint)
}

// bad reports a value that can't be.
func (r *reader) bad(pos diag.Pos, hint, format string, v ...any) {
	r.diags.Errorf(diag.ConfigValue, pos, format, v...).Hint("%s", hint)
}

// text returns a single value; the example is one that the key may have.
func (r *reader) text(e yamltree.Entry, example string) (yamltree.Scalar, bool) {
	s, ok := e.Value.Text()
	if !ok {
		r.bad(e.Value.Pos(), "write "+e.Key.Value+": "+example, "`%s:` takes a single value, this is %s", e.Key.Value, e.Value.Kind())
	}
	return s, ok
}

func (r *reader) mapping(e yamltree.Entry, form string) ([]yamltree.Entry, bool) {
	entries, ok := e.Value.Map()
	if !ok && !e.Value.IsMap() {
		r.bad(e.Value.Pos(), "write "+form, "`%s:` is a mapping, this is %s", e.Key.Value, e.Value.Kind())
	}
	return entries, ok
}

func (r *reader) oneOf(e yamltree.Entry, target *string, allowed ...string) {
	s, ok := r.text(e, allowed[0])
	if !ok {
		return
	}
	if slices.Contains(allowed, s.Value) {
		*target = s.Value
		return
	}
	hint := "write " + join(allowed)
	if near := diag.Nearest(s.Value, allowed); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.bad(s.Pos, hint, "`%s:` can't be %q", e.Key.Value, s.Value)
}

// join lists alternatives: a, b or c.
func join(words []string) string {
	out := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			out += " or " + w
		} else {
			out += ", " + w
		}
	}
	return out
}

// scope reads whose keys they are: a field of the caller, or none.
func (r *reader) scope(e yamltree.Entry) {
	s, ok := r.text(e, "caller.tenant_id")
	if !ok {
		return
	}
	if s.Value == "none" {
		r.cfg.Scope = spec.Source{Kind: spec.SourceNone, Pos: s.Pos}
		return
	}
	if hint := scopeHint(s.Value); hint != "" {
		r.bad(s.Pos, hint, "`scope:` can't be %q", s.Value)
		return
	}
	src, ok := spec.ReadSource("scope", s, r.diags)
	switch {
	case !ok:
	case src.Kind != spec.SourceCaller:
		r.bad(s.Pos, "write scope: caller.tenant_id, or scope: none for a service without callers",
			"the scope is a field of the caller: what a request says about itself can be forged")
	default:
		r.cfg.Scope = src
	}
}

// ScopeToSet is the caller's field that `idemgen init` writes where it can't
// tell whose the rows are.
const ScopeToSet = "CHANGE_ME"

var bareName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// scopeHint is the way out for a scope that is a name alone, or the one that
// init left to be set; "" for all else.
func scopeHint(value string) string {
	switch {
	case value == "caller."+ScopeToSet:
		return "write the column that says whose a row is, like caller.tenant_id; or none for a service without callers"
	case !bareName.MatchString(value):
		return ""
	case diag.Nearest(value, []string{"none"}) != "":
		return "did you mean none? a scope is caller.NAME or none"
	case value == "caller" || value == "scope":
		return "write caller.tenant_id; a scope is caller.NAME or none"
	}
	return "did you mean caller." + value + "? a scope is caller.NAME or none"
}

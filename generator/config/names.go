package config

import (
	"go/token"
	"path"
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

func (r *reader) version(e yamltree.Entry) {
	s, ok := r.text(e, "1")
	if ok && s.Value != "1" {
		r.bad(s.Pos, "write version: 1, or use the idemgen that the file was written for",
			"this idemgen reads version 1 of the file, not %s", s.Value)
	}
}

var serviceName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

func (r *reader) service(e yamltree.Entry) {
	s, ok := r.text(e, "payments")
	if !ok {
		return
	}
	if !serviceName.MatchString(s.Value) {
		hint := "use lower-case letters, digits, _ and -, a letter first"
		if better := serviceOf(s.Value); better != "" {
			hint = "write " + better + "; " + hint
		}
		r.bad(s.Pos, hint, "%q is not the name of a service", s.Value)
		return
	}
	r.cfg.Service = s.Value
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// DefaultService is the name of a service whose import path is given: its last
// element that is no version, "" where that gives none.
func DefaultService(importPath string) string { return defaultService(importPath) }

// defaultService is the last element of a module path that is no version.
func defaultService(module string) string {
	elements := strings.Split(strings.Trim(module, "/"), "/")
	for len(elements) > 1 && majorVersion.MatchString(elements[len(elements)-1]) {
		elements = elements[:len(elements)-1]
	}
	last := elements[len(elements)-1]
	if i := strings.LastIndex(last, ".v"); i > 0 && majorVersion.MatchString(last[i+1:]) {
		last = last[:i] // gopkg.in/name.v2
	}
	return serviceOf(last)
}

// serviceOf makes a service name of any text, "" if nothing is left.
func serviceOf(s string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, s)
	name = strings.TrimLeft(strings.TrimRight(name, "-"), "-0123456789_")
	if !serviceName.MatchString(name) {
		return ""
	}
	return name
}

func (r *reader) goPackage(e yamltree.Entry) {
	s, ok := r.text(e, "api")
	if !ok {
		return
	}
	if !packageName(s.Value) {
		r.bad(s.Pos, "use lower-case letters and digits, like api", "%q can't be the name of a Go package", s.Value)
		return
	}
	r.cfg.Package = s.Value
}

func packageName(s string) bool {
	return token.IsIdentifier(s) && s != "_" && s != "main" && s == strings.ToLower(s)
}

// derived fills what follows from other keys.
func (r *reader) derived() {
	if _, given := r.cfg.Pos["service"]; !given {
		if r.cfg.Service = defaultService(r.module); r.cfg.Service == "" {
			r.missing(diag.ConfigMissing, "service", "add service: NAME; the module's path gives none")
		}
	}
	if _, given := r.cfg.Pos["package"]; given || r.cfg.Out == "" {
		return
	}
	if r.cfg.Package = path.Base(r.cfg.Out); !packageName(r.cfg.Package) {
		r.missing(diag.ConfigMissing, "package", "add package: api; the folder's name "+r.cfg.Package+" can't be one")
	}
}

// session reads set_config entries; names are those of PostgreSQL's custom
// parameters (PostgreSQL docs, 20.16 Customized Options).
func (r *reader) session(e yamltree.Entry) {
	entries, ok := r.mapping(e, "session: {app.tenant_id: caller.tenant_id}")
	if !ok {
		return
	}
	for _, k := range entries {
		if !settingName.MatchString(k.Key.Value) {
			r.bad(k.Key.Pos, "write a name with a dot, like app.tenant_id", "%q is not a setting that a session can hold for itself", k.Key.Value)
			continue
		}
		s, ok := r.text(k, "caller.tenant_id")
		if !ok {
			continue
		}
		src, ok := spec.ReadSource("session", s, r.diags)
		if !ok {
			continue
		}
		if src.Kind != spec.SourceCaller && src.Kind != spec.SourceScope && src.Kind != spec.SourceLiteral {
			r.bad(s.Pos, "write caller.NAME", "a setting of the session is caller.NAME, scope or a 'literal'")
			continue
		}
		r.cfg.Session = append(r.cfg.Session, SessionVar{Name: spec.Name{Value: k.Key.Value, Pos: k.Key.Pos}, Source: src})
	}
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+$`)

// bind reads the sources of parameters of every query.
func (r *reader) bind(e yamltree.Entry) {
	if _, ok := r.mapping(e, "bind: {tenant_id: caller.tenant_id}"); ok {
		r.cfg.Bind = spec.ReadBinds(e.Value, r.diags)
	}
}

package config

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// OpenAPI is the `openapi:` section.
type OpenAPI struct {
	File     string
	Title    string
	Version  string   // of the API that the document describes
	Servers  []string // URLs, in the order written
	Security string   // bearer | none
}

func openAPIKeys() []string { return []string{"file", "title", "version", "servers", "security"} }

// openapi reads which document is written. What depends on other keys is settled
// by derivedOpenAPI.
func (r *reader) openapi(e yamltree.Entry) {
	entries, ok := r.mapping(e, "openapi: {file: openapi.yaml, title: Payments}")
	if !ok {
		return
	}
	r.cfg.OpenAPI = &OpenAPI{File: "openapi.yaml", Version: "1.0.0"}
	for _, k := range yamltree.Unknown(entries, openAPIKeys(), "`openapi:`", r.diags) {
		if k.Value.IsNull() {
			r.bad(k.Key.Pos, "give it one, or remove the key", "`%s:` has no value", k.Key.Value)
			continue
		}
		switch k.Key.Value {
		case "file":
			r.openAPIFile(k)
		case "title":
			r.sentence(k, &r.cfg.OpenAPI.Title, "Payments")
		case "version":
			r.sentence(k, &r.cfg.OpenAPI.Version, "1.0.0")
		case "servers":
			r.servers(k)
		case "security":
			r.oneOf(k, &r.cfg.OpenAPI.Security, "bearer", "none")
		}
	}
}

func (r *reader) openAPIFile(e yamltree.Entry) {
	r.path(e, &r.cfg.OpenAPI.File, "openapi.yaml", false)
	if ext := path.Ext(r.cfg.OpenAPI.File); ext != ".yaml" && ext != ".yml" {
		r.bad(e.Value.Pos(), "write file: openapi.yaml", "the document is YAML, so its name ends in .yaml")
	}
}

// sentence reads a text for people, of one line.
func (r *reader) sentence(e yamltree.Entry, target *string, example string) {
	s, ok := r.text(e, example)
	switch {
	case !ok:
	case strings.TrimSpace(s.Value) == "" || strings.ContainsFunc(s.Value, unicode.IsControl):
		r.bad(s.Pos, "write "+e.Key.Value+": "+example, "`%s:` is one line of text", e.Key.Value)
	default:
		*target = s.Value
	}
}

func (r *reader) servers(e yamltree.Entry) {
	const hint = "write servers: [https://api.example.com]"
	nodes, ok := e.Value.List()
	if !ok {
		r.bad(e.Value.Pos(), hint, "`servers:` is a list of URLs, this is %s", e.Value.Kind())
		return
	}
	for _, n := range nodes {
		s, ok := n.Text()
		u, err := url.Parse(s.Value)
		if !ok || s.Value == "" || err != nil || u.Scheme == "" && !strings.HasPrefix(s.Value, "/") {
			r.bad(n.Pos(), hint, "a server is a URL, or a path on the document's own server")
			continue
		}
		r.cfg.OpenAPI.Servers = append(r.cfg.OpenAPI.Servers, s.Value)
	}
}

// derivedOpenAPI fills what the rest of the file says.
func (r *reader) derivedOpenAPI() {
	o := r.cfg.OpenAPI
	if o == nil {
		return
	}
	if o.Title == "" {
		words := strings.FieldsFunc(r.cfg.Service, func(c rune) bool { return c == '_' || c == '-' })
		o.Title = strings.Join(words, " ")
		if o.Title != "" {
			o.Title = strings.ToUpper(o.Title[:1]) + o.Title[1:]
		}
	}
	if o.Security == "" {
		o.Security = "bearer"
		if r.cfg.Scope.Kind == spec.SourceNone {
			o.Security = "none"
		}
	}
}

// client reads the folder of the typed client, whose package has its name.
func (r *reader) client(e yamltree.Entry) {
	r.path(e, &r.cfg.Client, "client", false)
	if name := path.Base(r.cfg.Client); r.cfg.Client != "" && !packageName(name) {
		r.bad(e.Value.Pos(), "write client: client, or another folder in lower-case letters and digits", "the folder's name %s can't be the name of a Go package", name)
	}
}

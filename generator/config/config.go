// Package config reads idemgen.yaml. Every rule of the file is in this
// package: unknown keys, wrong values and missing keys are diagnostics with
// line and column.
package config

import (
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// Config is an idemgen.yaml with defaults applied. Paths are relative to the
// file's folder, with slashes.
type Config struct {
	File          string
	Service       string
	Sqlc          []string
	SqlcCommand   []string // sqlc.command; nil: found by sqlcrun
	Migrations    string
	Specs         []string // globs
	Package       string
	Out           string
	Client        string   // folder of the typed client; "": none
	OpenAPI       *OpenAPI // nil: no document
	Profile       string
	Scope         spec.Source
	Bind          []spec.Bind
	Session       []SessionVar // in the order written
	JSON          JSON
	Sweep         Sweep
	UnknownFields string              // reject | ignore
	DefaultKeys   map[string]spec.Key // by method, from defaults: key:
	Defaults      spec.Policy         // as written: what it leaves out, the profile says (ProfilePolicy)
	Eject         []spec.Name         // operations whose files are the user's own
	Pos           map[string]diag.Pos // of each top-level key

	places map[place]diag.Pos
}

// place is a path, or the command of sqlc, under the key that names it.
type place struct{ key, value string }

// Place is where a path of the configuration stands: one of `sqlc`, `specs`,
// `migrations` and `out`, or the program of sqlc's `command`. It is the key's
// place where the file does not name the path, and the file's where it does
// not have the key either.
func (c *Config) Place(key, value string) diag.Pos {
	if at, ok := c.places[place{key, value}]; ok {
		return at
	}
	if at, ok := c.Pos[key]; ok {
		return at
	}
	return diag.Pos{File: c.File, Line: 1, Col: 1}
}

// SessionVar is one entry of `session:`.
type SessionVar struct {
	Name   spec.Name
	Source spec.Source
}

// JSON is the `json:` section.
type JSON struct {
	Case   string // snake | camel
	Bigint string // number | string
	One    string
	Many   string
}

// Parse reads the text of a file. Module is the module's path, for the default
// service name. The returned Config is usable only if no error was added.
func Parse(file string, text []byte, module string, diags *diag.List) *Config {
	return parse(file, text, module, diags)
}

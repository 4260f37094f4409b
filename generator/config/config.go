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
	Profile       string
	Scope         spec.Source
	Bind          []spec.Bind
	Session       []SessionVar // in the order written
	JSON          JSON
	UnknownFields string              // reject | ignore
	DefaultKeys   map[string]spec.Key // by method, from defaults: key:
	Defaults      spec.Policy
	Pos           map[string]diag.Pos // of each top-level key
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

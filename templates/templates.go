// Package templates holds the text/template files of everything that idemgen
// emits. They are thin: what they print is decided by generator/render.
package templates

import "embed"

// FS holds the templates by path: emit/ for Go and SQL, migration/ for goose.
//
//go:embed emit/*.tmpl migration/*.tmpl
var FS embed.FS

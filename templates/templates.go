// Package templates holds the text/template files of everything that idemgen
// emits. They are thin: what they print is decided by generator/render and
// generator/review.
package templates

import "embed"

// FS holds the templates by path: emit/ for Go and SQL, migration/ for goose,
// review/ for the page of `idemgen review`.
//
//go:embed emit/*.tmpl migration/*.tmpl review/*.tmpl
var FS embed.FS

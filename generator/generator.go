// Package generator turns annotated SQL into a service: it reads what sqlc,
// the migrations, the specs and idemgen.yaml say, and writes the Go, the SQL
// and the migrations that follow from it.
package generator

import (
	"errors"
	"time"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/review"
	"github.com/idemgen/idemgen/generator/schema"
)

// Version is the generator's version, as idemgen.lock records it. It is a
// constant, not the build's: every build of one release writes the same lock.
const Version = "0.1.0"

// DefaultConfig is the configuration file where none is named.
const DefaultConfig = "idemgen.yaml"

// Options say what to generate. The zero value generates for the current
// folder.
type Options struct {
	Dir        string // the folder of the configuration file; "" is the current one
	ConfigFile string // its name in that folder; "" is DefaultConfig
	DryRun     bool   // compute the changes and write nothing
	NoSqlc     bool   // take what the user's own run of sqlc left on disk
	// Eject are operations whose files become the user's own: they are added to
	// `eject:` of the configuration.
	Eject []string
	// Now numbers new migrations in folders that number by time; nil is time.Now.
	Now func() time.Time
}

// Result is what a run did, or, in a dry run, would do.
type Result struct {
	Config     string // the configuration file, relative to Dir
	Out        string // the folder of the emitted code, relative to Dir
	Changes    []files.Change
	Operations []*plan.Operation
	Review     *review.Document // what REVIEW.md and REVIEW.json say
	Warnings   []diag.Diagnostic
	// Service and Catalog are what the operations were made of, for those who
	// look at more than files: lint, doctor. Migrations are the paths of the migration folder, those that this run adds
	// included.
	Migrations []string
	Service    *model.Service
	Catalog    *schema.Catalog
	// Notes are sentences about what stays as it is although something that it
	// was for is gone.
	Notes []string
}

// Drift reports whether the tree was not what the input asks for.
func (r *Result) Drift() bool {
	for _, c := range r.Changes {
		if c.Action != files.Keep {
			return true
		}
	}
	return false
}

// ErrNoConfig is returned where there is no configuration file, so nothing to do.
var ErrNoConfig = errors.New("no configuration file")

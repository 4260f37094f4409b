// Package check resolves declarations against what sqlc and the migrations
// say: it makes the model, and refuses what can't hold. It reads no files.
package check

import (
	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// Input is everything that was read.
type Input struct {
	Config    *config.Config
	Module    string // the user's module path
	Catalog   *schema.Catalog
	Decls     []*spec.QueryDecl // every query of every file
	Endpoints []*spec.Endpoint
	Queries   []*sqlcrun.Query
	Entries   []*sqlcrun.Entry
}

// Intents resolves every @intent without sqlc: which constraint or index holds
// it, and which are missing, so that migrations can be written first.
func Intents(cfg *config.Config, cat *schema.Catalog, decls []*spec.QueryDecl, endpoints []*spec.Endpoint, diags *diag.List) []*model.Intent {
	return resolveIntents(cfg, cat, decls, endpoints, diags)
}

// Check makes the model. It is usable only if no error was added.
func Check(in Input, diags *diag.List) *model.Service { return check(in, diags) }

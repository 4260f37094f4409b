// Package render turns a model and its plan into the text of files. It is a
// pure function: same input, same bytes.
package render

import (
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/schema"
)

// Emit renders everything below out: one Go file and one .sql file per
// operation, api.go, caller and options. Paths are relative to the folder of
// idemgen.yaml.
func Emit(out string, svc *model.Service, ops []*plan.Operation) ([]files.File, error) {
	return emit(out, svc, ops)
}

// Migrations renders the goose migrations that are missing: the runtime's
// tables, one per intent, and the one that lets pg_cron sweep at a schedule ("" for
// none), numbered as the folder is. Now is used only for timestamp numbering
// (YYYYMMDDhhmmss).
func Migrations(folder string, cat *schema.Catalog, intents []*model.Intent, schedule, now string) ([]files.File, error) {
	return migrations(folder, cat, intents, schedule, now)
}

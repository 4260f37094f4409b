package generator

import (
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/review"
	"github.com/idemgen/idemgen/generator/schema"
)

// describe makes the review of the service, and its files.
func (r *runner) describe(svc *model.Service) error {
	src := review.Source{Service: svc, Operations: r.operations, Catalog: r.catalog, SQL: map[string]string{}}
	for _, f := range r.emitted {
		if path.Ext(f.Path) == ".sql" {
			src.SQL[path.Base(f.Path)] = string(f.Content)
		}
	}
	// By name: a migration that this run adds must be where the next run reads it.
	src.Migrations = slices.SortedFunc(slices.Values(r.ddl), func(a, b schema.File) int { return strings.Compare(a.Path, b.Path) })
	src.Migrations = slices.CompactFunc(src.Migrations, func(a, b schema.File) bool { return a.Path == b.Path })
	r.review = review.Build(src)
	emitted, err := review.Files(r.cfg.Out, r.review)
	r.emitted = append(r.emitted, emitted...)
	return err
}

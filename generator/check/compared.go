package check

import (
	"regexp"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// compared leaves out what is written with sqlc.narg: there the author says that
// null is meant.
func compared(d *spec.QueryDecl, m *model.Query) []int {
	return slices.DeleteFunc(slices.Clone(m.Shape.Compared), func(n int) bool {
		return n > len(m.Params) || isOptional(d, m.Params[n-1].Name)
	})
}

// isOptional reports whether a parameter is written as sqlc.narg(name).
func isOptional(d *spec.QueryDecl, param string) bool {
	text := sqlComment.ReplaceAllString(d.SQL.Text, "")
	return regexp.MustCompile(`(?i)\bsqlc\s*\.\s*narg\s*\(\s*'?` + regexp.QuoteMeta(param) + `'?\s*\)`).MatchString(text)
}

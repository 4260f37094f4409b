package generator

import (
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// OperationNames are the operations of a service as far as its files say without
// sqlc, sorted; nil if they can't be read. For completion: it is quick, and has
// no opinion on errors.
func OperationNames(opts Options) []string {
	tree, err := files.Open(opts.Dir)
	if err != nil {
		return nil
	}
	defer func() { _ = tree.Close() }()
	r := &runner{opts: opts, tree: tree}
	if err := r.readConfig(); err != nil || r.diags.HasErrors() {
		return nil
	}
	r.entries = sqlcrun.Entries(r.sqlcOptions(), &diag.List{})
	if err := r.readDeclarations(); err != nil {
		return nil
	}
	var out []string
	for _, d := range r.decls {
		if d.Decl.HTTP == nil {
			continue
		}
		if d.Decl.Operation != nil {
			out = append(out, d.Decl.Operation.Value)
		} else {
			out = append(out, d.Name)
		}
	}
	for _, e := range r.endpoints {
		out = append(out, e.Name.Value)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

package scaffold

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/idemgen/idemgen/generator/files"
)

// ErrHasCode is returned where the folder has code of its own, which a new service would meet.
var ErrHasCode = errors.New("the folder has code already")

// New writes a runnable service into dir, which is made if it isn't there. It
// fails, with an error that wraps ErrHasCode, where Go files, a sqlc.yaml or
// an idemgen.yaml are in the folder.
func New(dir string, opts Options) (*Result, error) {
	tree, err := files.Create(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.Close() }()
	for _, pattern := range []string{"*.go", "sqlc.yaml", "sqlc.yml", "sqlc.json", "idemgen.yaml"} {
		found, err := tree.Glob(pattern)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return nil, fmt.Errorf("%w (%s): `idemgen init --existing` only adds to it", ErrHasCode, found[0])
		}
	}
	v := view{Version: opts.Version, Checkout: opts.Checkout}
	own := tree.Module.Path == "" || opts.Module != ""
	if own {
		v.Module = opts.Module
		if v.Module == "" {
			v.Module = "example.com/" + serviceOf(filepath.Base(tree.Dir()))
		}
		v.Import = v.Module
	} else if v.Import, err = importPath(tree); err != nil {
		return nil, err
	}
	v.Service = serviceOf(v.Import)
	want, err := render("new", v, func(name string) bool { return name == "go.mod" && !own })
	if err != nil {
		return nil, err
	}
	result := &Result{Next: nextNew(tree, opts, own)}
	result.Changes, err = add(tree, want)
	return result, err
}

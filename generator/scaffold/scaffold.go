// Package scaffold is `idemgen init`: it decides what a new service, or one
// that has code already, is given. It only adds; no file is ever overwritten.
package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/files"
	templates "github.com/idemgen/idemgen/templates/init"
)

// Options say what to write.
type Options struct {
	Module string // path of a new module; "" takes the folder's name
	// NoGenerate says that nothing will be generated right after.
	NoGenerate bool
	Version    string // of idemgen, for a new go.mod
	Checkout   string // folder of an idemgen checkout to use in its place
}

// Result is what init did.
type Result struct {
	Changes []files.Change // writes, and what was there and kept
	// Next are the steps left to the user, in order: commands, or sentences.
	Next []string
}

// view is what the templates see.
type view struct {
	Module, Import, Service, Version, Checkout string

	Sqlc, Migrations, Queries, Package, Out, Scope string
	GeneratePackage, GenerateDir                   string

	tables, scoped int      // how many there are, and how many have the scope's column
	schema         []string // files that make the tables
	sqlcOut        string   // the folder of the package that sqlc emits
	keepsStructs   bool     // sqlc emits a struct for every table, used or not
}

// render fills the templates of a folder; skip names those to leave out.
func render(folder string, v view, skip func(name string) bool) ([]files.File, error) {
	var out []files.File
	err := fs.WalkDir(templates.FS, folder, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(p, folder+"/"), ".tmpl")
		if skip(name) {
			return nil
		}
		set, err := template.ParseFS(templates.FS, p)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := set.Execute(&text, v); err != nil {
			return err
		}
		out = append(out, files.File{Path: name, Content: text.Bytes(), Once: true})
		return nil
	})
	return out, err
}

// add writes the files that aren't there yet.
func add(tree *files.Tree, want []files.File) ([]files.Change, error) {
	changes, err := tree.Add(want)
	if err != nil {
		return nil, err
	}
	return changes, tree.Apply(changes)
}

// serviceName is a service's name by the import path of its folder: the last
// element that is no version.
func serviceName(tree *files.Tree) string {
	p, err := importPath(tree)
	if err != nil {
		p = filepath.Base(tree.Dir()) // no module yet
	}
	return serviceOf(p)
}

func serviceOf(importPath string) string {
	if name := config.DefaultService(importPath); name != "" {
		return name
	}
	return "service"
}

// importPath is the import path of the tree's own folder.
func importPath(tree *files.Tree) (string, error) {
	p, err := tree.Module.ImportPath(tree.Dir())
	if err != nil {
		return "", fmt.Errorf("the folder's import path: %w", err)
	}
	return path.Clean(p), nil
}

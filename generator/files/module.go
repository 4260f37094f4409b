package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Module is what a go.mod says, as far as the generator needs it.
type Module struct {
	Root  string   // absolute folder of the go.mod
	Path  string   // the module's path
	Tools []string // packages of its tool directives
}

// ErrNoModule is returned where there is no go.mod in the folder or above it.
var ErrNoModule = errors.New("no go.mod here or above")

// FindModule reads the nearest go.mod in dir or above it. It returns an error
// that wraps ErrNoModule where there is none.
func FindModule(dir string) (Module, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Module{}, err
	}
	for folder := abs; ; folder = filepath.Dir(folder) {
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil {
			m := parseGoMod(string(text))
			m.Root = folder
			if m.Path == "" {
				return m, fmt.Errorf("%s names no module", filepath.Join(folder, "go.mod"))
			}
			return m, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir) {
			return Module{}, err
		}
		if folder == filepath.Dir(folder) {
			return Module{}, fmt.Errorf("%s: %w", dir, ErrNoModule)
		}
	}
}

// ImportPath is the import path of the package in folder, which is absolute.
func (m Module) ImportPath(folder string) (string, error) {
	rel, err := filepath.Rel(m.Root, folder)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is outside of module %s", folder, m.Path)
	}
	if rel == "." {
		return m.Path, nil
	}
	return m.Path + "/" + filepath.ToSlash(rel), nil
}

// HasTool reports whether the module has a tool directive for the package.
func (m Module) HasTool(pkg string) bool { return slices.Contains(m.Tools, pkg) }

// parseGoMod reads the module and tool directives; go.mod's own grammar is a
// directive and its arguments per line, or a parenthesised block of them.
func parseGoMod(text string) Module {
	var m Module
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "module":
			m.Path = strings.Trim(words[1], "\"`")
		case "tool":
			m.Tools = append(m.Tools, strings.Trim(words[1], "\"`"))
		}
	}
	return m
}

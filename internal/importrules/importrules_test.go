// Package importrules holds the test of who may import whom.
package importrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/idemgen/idemgen"

// pkg is what `go list` says about a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func list(t *testing.T) map[string]*pkg { return listIn(t, ".", module+"/...") }

// listIn lists packages and what they depend on, as seen from the module of dir.
func listIn(t *testing.T, dir, packages string) map[string]*pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Standard,Imports,Deps", packages)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	all := map[string]*pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = &p
	}
}

// under reports whether an import path is one of the roots, or below one.
func under(p string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return p == r || strings.HasPrefix(p, r+"/") })
}

func own(paths ...string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = module + "/" + p
	}
	return out
}

func TestRuntimeStaysLean(t *testing.T) {
	all := list(t)
	// idem itself, and what emitted code imports with it: the standard
	// library, pgx with its own two, and the runtime's SQL.
	allowed := append(own("gen", "schema", "idem"), "github.com/jackc", "golang.org/x/text", "golang.org/x/sync")
	runtime := all[module+"/idem"]
	if runtime == nil {
		t.Fatal("there is no package idem")
	}
	for _, dep := range runtime.Deps {
		if p := all[dep]; p != nil && p.Standard || under(dep, allowed...) || strings.HasPrefix(dep, "vendor/") {
			continue
		}
		t.Errorf("idem depends on %s", dep)
	}
	for _, dep := range runtime.Deps {
		if under(dep, own("idem/idemtest", "generator", "internal", "templates")...) {
			t.Errorf("idem depends on %s", dep)
		}
	}
}

func TestWhoMayImportWhom(t *testing.T) {
	all := list(t)
	rules := []struct {
		what     string
		imported []string // these packages, and those below them,
		only     []string // may be imported by these alone, in this module
	}{
		{"the generator", own("generator"), own("generator", "internal", "cmd")},
		{"the command line", own("internal/cli"), own("cmd", "internal/cli")},
		{"the runtime", own("idem"), own("idem", "internal/cli")},
		{"the PostgreSQL grammar", []string{"github.com/sqlc-dev/oliphant"}, own("generator/schema", "generator/sqltext")},
		{"YAML", []string{"go.yaml.in"}, own("generator")},
		{"cobra", []string{"github.com/spf13"}, own("internal/cli")},
		{"the disk", []string{"os"}, own("generator/files", "generator/sqlcrun", "cmd", "idem/idemtest", "idem/outbox")}, // the outbox: whose lease it is, by host
		{"processes", []string{"os/exec"}, own("generator/sqlcrun", "generator/gitrev", "idem/idemtest")},
		{"test support", own("idem/idemtest"), own("idem/idemtest")},
		{"metrics and traces", []string{"github.com/prometheus", "go.opentelemetry.io"}, nil},
		{"embedded PostgreSQL", []string{"github.com/fergusstrange"}, own("idem/idemtest")},
	}
	for _, rule := range rules {
		for path, p := range all {
			if !under(path, module) || under(path, rule.only...) {
				continue
			}
			for _, imported := range p.Imports {
				if exact := len(rule.imported) == 1 && !strings.Contains(rule.imported[0], "."); exact && imported != rule.imported[0] {
					continue
				}
				if under(imported, rule.imported...) {
					t.Errorf("%s: %s may not import %s", rule.what, path, imported)
				}
			}
		}
	}
}

func TestModelAndDiagImportOnlyTheStandardLibrary(t *testing.T) {
	all := list(t)
	for path, allowed := range map[string][]string{
		module + "/generator/diag":  nil,
		module + "/generator/model": own("generator/diag"),
	} {
		p := all[path]
		if p == nil {
			t.Errorf("there is no package %s", path)
			continue
		}
		for _, imported := range p.Imports {
			if q := all[imported]; q != nil && q.Standard || under(imported, allowed...) {
				continue
			}
			t.Errorf("%s may not import %s", path, imported)
		}
	}
}

// A client is imported by programs that have no database.
func TestTheClientImportsOnlyTheStandardLibrary(t *testing.T) {
	all := list(t)
	p := all[module+"/idem/client"]
	if p == nil {
		t.Fatal("there is no package idem/client")
	}
	for _, dep := range p.Deps {
		if q := all[dep]; q == nil || !q.Standard {
			t.Errorf("idem/client depends on %s", dep)
		}
	}
}

// Each adapter adds one library to what the runtime needs, and is a module of its
// own, so that who does not use it does not get it.
func TestAdaptersStayLean(t *testing.T) {
	for adapter, library := range map[string]string{
		"prometheus": "github.com/prometheus/client_golang", "otel": "go.opentelemetry.io/otel",
		"kafka": "github.com/twmb/franz-go", "nats": "github.com/nats-io/nats.go", "rabbitmq": "github.com/rabbitmq/amqp091-go",
	} {
		path := module + "/adapters/" + adapter
		all := listIn(t, "../../adapters/"+adapter, path)
		p := all[path]
		if p == nil {
			t.Errorf("there is no package %s", path)
			continue
		}
		for _, imported := range p.Imports {
			if q := all[imported]; q != nil && q.Standard || imported == module+"/idem" || imported == module+"/idem/outbox" || imported == module+"/idem/consume" || under(imported, library) {
				continue
			}
			t.Errorf("%s may not import %s", path, imported)
		}
		for _, dep := range p.Deps {
			if under(dep, module) && !under(dep, append(own("gen", "schema"), module+"/idem")...) || under(dep, own("idem/idemtest")...) {
				t.Errorf("%s depends on %s", path, dep)
			}
		}
	}
}

// TestSqlcIsNoDependency: sqlc is run as a program; linking it would add its
// 43 modules to every user's build.
func TestSqlcIsNoDependency(t *testing.T) {
	for path := range list(t) {
		if under(path, "github.com/sqlc-dev/sqlc") {
			t.Errorf("%s is linked", path)
		}
	}
}

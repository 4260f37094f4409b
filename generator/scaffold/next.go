package scaffold

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/files"
)

const (
	module = "github.com/idemgen/idemgen"
	tool   = module + "/cmd/idemgen"
)

// nextNew are the steps to a running service. What is generated right away
// needs no second run; without that, the module is not complete before.
func nextNew(tree *files.Tree, opts Options, ownModule bool) []string {
	var out []string
	if !ownModule {
		out = append(out, addTool(tree, opts)...)
	}
	if opts.NoGenerate && len(out) > 0 {
		out[0] = strings.TrimSuffix(out[0], " && go mod tidy") // it can't succeed yet
	}
	if opts.NoGenerate {
		out = append(out, "go mod tidy -e   # the package that main.go imports is made by the next step", "go generate .")
	}
	return append(out,
		"go mod tidy",
		"go run -tags dev .   # with a PostgreSQL of its own; or: DATABASE_URL=postgres://postgres@localhost:5432/postgres go run .",
		`curl -i localhost:8080/v1/orders -H 'Authorization: Bearer demo-key' -H 'Idempotency-Key: first' -H 'Content-Type: application/json' -d '{"reference": "A-1", "amount": 100}'`,
		"Put your own tables and statements in place of the sample: db/migrations/00001_orders.sql, its intent's migration beside it, db/queries/orders.sql",
		"After each change of a query or a migration: go generate .",
		"To check every operation: go test ./... (with -v it says which ones need fixtures first)",
	)
}

func nextExisting(tree *files.Tree, v view, opts Options) []string {
	out := addTool(tree, opts)
	if v.scoped > 0 {
		out = append(out, fmt.Sprintf("Look at scope: in idemgen.yaml. %s was found in %d of %d tables: is caller.%s whose the keys and rows are?",
			v.Scope, v.scoped, v.tables, v.Scope))
	} else {
		out = append(out, "Write scope: in idemgen.yaml. No column was found that says whose the rows are; then bind it: bind: {tenant_id: caller.tenant_id}")
	}
	if v.keepsStructs {
		out = append(out, "If you want no Go types for the tables of idemgen's runtime in "+v.sqlcOut+": omit_unused_structs: true under gen: go: in "+v.Sqlc+" (it drops those of your own tables that no query returns, too)")
	}
	return append(out,
		"Annotate a query in "+v.Queries+", between its name and its SQL: -- @http POST /v1/orders",
		"go generate . && go mod tidy",
		"Mount it: svc, err := "+v.Package+".New(pool, "+v.Package+".Options{Caller: callerOf}); err = svc.Mount(r.With(authenticate)), last and on the root router; go svc.Run(ctx)",
	)
}

// addTool makes `go tool idemgen` work in a module that is there already. A
// checkout comes by a replace line, and needs no published version.
func addTool(tree *files.Tree, opts Options) []string {
	switch {
	case opts.Checkout != "":
		edit := fmt.Sprintf("go mod edit -replace %s -require=%s@%s -tool=%s", shellWord(module+"="+opts.Checkout), module, opts.Version, tool)
		return []string{edit + " && go mod tidy"}
	case tree.Module.HasTool(tool):
		return nil
	}
	return []string{"go get -tool " + tool}
}

// shellWord quotes a text for the shell where it must be.
func shellWord(s string) string {
	if !strings.ContainsAny(s, " \t'\"$`\\&|;<>()*?[]#~!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

package generator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
	"github.com/idemgen/idemgen/idem/idemtest"
)

const paramsTable = "CREATE TABLE things (id bigint PRIMARY KEY, n bigint NOT NULL, at timestamptz NOT NULL, note text NOT NULL);\n"

// TestComputedParametersAreRightOrRefused makes statements that compute with
// parameters. Of each either a parameter is refused, or sqlc knows all of them
// by their names and PostgreSQL prepares what sqlc made of the text.
func TestComputedParametersAreRightOrRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 30))
	var accepted strings.Builder
	names := map[string][]string{}
	refused := 0
	for i := range 400 {
		e := &expression{random: random}
		text := fmt.Sprintf("-- name: Q%d :many\nSELECT id FROM things WHERE %s;\n", i, e.condition())
		var diags diag.List
		spec.ParseQueryFile("q.sql", text, &diags)
		if diags.HasErrors() {
			refused++
			continue
		}
		accepted.WriteString(text)
		names[fmt.Sprintf("Q%d", i)] = e.names
	}
	if len(names) < 100 || refused < 100 {
		t.Fatalf("%d refused of 400: the generator makes too little of one kind", refused)
	}
	conn, err := pgx.Connect(t.Context(), idemtest.URL(t, paramsTable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, q := range runSqlc(t, accepted.String()) {
		for _, p := range q.Params {
			if !slices.Contains(names[q.Name], p.Name) {
				t.Errorf("%s: sqlc knows a parameter %q of %v", q.SQL, p.Name, names[q.Name])
			}
		}
		if len(q.Params) != len(names[q.Name]) {
			t.Errorf("%s: %d parameters of %v", q.SQL, len(q.Params), names[q.Name])
		}
		if _, err := conn.Prepare(t.Context(), q.Name, q.SQL); err != nil {
			t.Errorf("%s: %v", q.SQL, err)
		}
	}
}

// runSqlc gives what sqlc makes of a query file, all of which it has to take.
func runSqlc(t *testing.T, queries string) []*sqlcrun.Query {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/s\n",
		"sqlc.yaml": "version: \"2\"\nsql:\n  - {engine: postgresql, schema: m, queries: q, gen: {go: {package: db, out: db, sql_package: pgx/v5}}}\n",
		"m/1_t.sql": "-- +goose Up\n" + paramsTable,
		"q/q.sql":   queries,
	} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := files.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	opts := sqlcrun.Options{Tree: tree, Configs: []string{"sqlc.yaml"}}
	var diags diag.List
	out, err := sqlcrun.Run(t.Context(), opts, sqlcrun.Entries(opts, &diags), &diags)
	if err != nil || diags.HasErrors() {
		t.Fatalf("sqlc refuses what was accepted: %v %v\n%s", err, diags.Sorted(), at(queries, diags.Sorted()))
	}
	return out.Queries
}

// at is the line of the first diagnostic.
func at(text string, list []diag.Diagnostic) string {
	if len(list) == 0 || list[0].Pos.Line == 0 {
		return text
	}
	return strings.Split(text, "\n")[list[0].Pos.Line-1]
}

// expression writes SQL over parameters by name, each of one type.
type expression struct {
	random *rand.Rand
	names  []string
}

func (e *expression) pick(of ...string) string { return of[e.random.IntN(len(of))] }

// param is a parameter with a cast, in one of the ways to write it.
func (e *expression) param(typ string) string {
	name := e.pick("a", "b", "cents", "Percent", "x_1") + "_" + strings.Fields(typ)[0]
	if !slices.Contains(e.names, strings.ToLower(name)) {
		e.names = append(e.names, strings.ToLower(name))
	}
	form := e.pick("@$N::$T", "@$N::$T", "(@$N::$T)", "CAST(@$N AS $T)", "sqlc.arg($N)::$T", "sqlc.arg('$n')::$T", "sqlc.arg( $N)::$T", "@ $N::$T",
		"@$N ::$T", "@$N::$T::$T")
	return strings.NewReplacer("$N", name, "$n", strings.ToLower(name), "$T", typ).Replace(form)
}

// number is an expression of type bigint.
func (e *expression) number(depth int) string {
	if depth == 0 || e.random.IntN(3) == 0 {
		if plain := e.pick("n", "id", "2", "", ""); plain != "" {
			return plain
		}
		return e.param("bigint")
	}
	left, right := e.number(depth-1), e.number(depth-1)
	switch e.random.IntN(6) {
	case 0:
		return "(" + left + ") " + e.pick("+", "-", "*", "/", "%") + " " + right
	case 1:
		return "coalesce(" + left + ", " + right + ")"
	case 2:
		return "CASE WHEN " + left + " > 1 THEN " + right + " ELSE 0 END"
	case 3:
		return "-(" + left + ") - (" + right + ")"
	}
	return left + e.pick(" ", "") + e.pick("+", "-", "*", "/", "%") + " " + right
}

func (e *expression) condition() string {
	switch e.random.IntN(6) {
	case 0:
		return "at < " + e.param("timestamptz") + e.pick("", " AT TIME ZONE 'UTC'", " + interval '1 day'")
	case 1:
		return "note " + e.pick("||") + " " + e.param("text") + e.pick("", " COLLATE \"C\"", " || 'x'") + " <> 'y'"
	case 2:
		return "n BETWEEN " + e.number(1) + " AND " + e.number(1)
	case 3:
		return "n IN (" + e.number(1) + ", " + e.number(1) + ")"
	}
	return e.number(2) + " " + e.pick("=", "<", ">=") + " " + e.number(2)
}

package plan

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { idemtest.Main(m) }

// printed is an operation's .sql file without its head.
func printed(op *Operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s, %d round trips", op.Strategy, op.RoundTrips)
	if op.Reason != "" {
		fmt.Fprintf(&b, ": %s", op.Reason)
	}
	b.WriteString("\n")
	for _, s := range op.Statements {
		fmt.Fprintf(&b, "\n-- statement: %s\n%s", s.Name, s.SQL)
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	for name, op := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".sql")
			got := printed(op)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s (run with -update):\n%s", path, got)
			}
			for _, s := range op.Statements {
				if !strings.HasSuffix(s.SQL, ";\n") || strings.Contains(s.SQL, "\n-- statement:") {
					t.Errorf("section %s has no proper end", s.Name)
				}
			}
		})
	}
}

// TestGoldensArePrepared prepares every statement on a real server, so that it
// infers each parameter's type by itself.
func TestGoldensArePrepared(t *testing.T) {
	ctx := t.Context()
	conn, err := idemtest.Pool(t, tables).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	all := goldens(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, s := range all[name].Statements {
			desc, err := conn.Conn().Prepare(ctx, "", s.SQL)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", name, s.Name, err, s.SQL)
				continue
			}
			if len(desc.ParamOIDs) != len(s.Args) {
				t.Errorf("%s, %s: %d parameters, %d arguments", name, s.Name, len(desc.ParamOIDs), len(s.Args))
			}
			if s.Results.Answer && len(desc.Fields) != 5 {
				t.Errorf("%s, %s: %d columns", name, s.Name, len(desc.Fields))
			}
		}
	}
}

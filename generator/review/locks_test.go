package review

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

const lockTables = `
CREATE TABLE parents (id int PRIMARY KEY, code text UNIQUE, note text, part text, late text UNIQUE DEFERRABLE);
CREATE UNIQUE INDEX parents_part ON parents (part) WHERE note IS NOT NULL;
CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents (id) ON DELETE CASCADE, note text);
INSERT INTO parents VALUES (1, 'a', 'n', 'p'), (2, 'b', 'n', 'q');
INSERT INTO children VALUES (1, 1, 'n');
`

// predicted are the locks that a keyless operation of one statement is said to take.
func predicted(t *testing.T, sql string) []Lock {
	t.Helper()
	var diags diag.List
	catalog := schema.Build([]schema.File{{Path: "1.sql", Text: lockTables}}, &diags)
	shape := catalog.Analyze(sql, diag.Pos{}, &diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	step := &model.Step{Name: "Op", Query: &model.Query{Name: "Op", SQL: sql, Command: "exec", Shape: shape}}
	op := &model.Operation{Name: "Op", Key: model.Key{From: "none"}, Steps: []*model.Step{step}}
	return Source{Service: &model.Service{}, Catalog: catalog}.locks(&plan.Operation{Model: op, Strategy: plan.Direct})
}

// refused says which row locks another transaction can't have beside one
// (PostgreSQL, Conflicting Row-Level Locks).
var refused = map[string][]string{
	"":                  nil,
	"FOR KEY SHARE":     {"FOR UPDATE"},
	"FOR SHARE":         {"FOR NO KEY UPDATE", "FOR UPDATE"},
	"FOR NO KEY UPDATE": {"FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"},
	"FOR UPDATE":        {"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"},
}

// TestRowLocksAreThoseOfPostgreSQL runs statements in an open transaction, and
// asks from another one which locks their rows have.
func TestRowLocksAreThoseOfPostgreSQL(t *testing.T) {
	pool := idemtest.Pool(t, lockTables)
	for name, c := range map[string]struct{ sql, table, row, mode string }{
		"update of no key":              {"UPDATE parents SET note = 'x' WHERE id = 1", "parents", "id = 1", "FOR NO KEY UPDATE"},
		"update of a key":               {"UPDATE parents SET note = 'x', code = 'z' WHERE id = 1", "parents", "id = 1", "FOR UPDATE"},
		"update of a list with a key":   {"UPDATE parents SET (note, code) = ROW('x', 'y') WHERE id = 1", "parents", "id = 1", "FOR UPDATE"},
		"update of a partial index":     {"UPDATE parents SET part = 'z' WHERE id = 1", "parents", "id = 1", "FOR NO KEY UPDATE"},
		"update of a deferrable key":    {"UPDATE parents SET late = 'z' WHERE id = 1", "parents", "id = 1", "FOR UPDATE"},
		"delete":                        {"DELETE FROM children WHERE id = 1", "children", "id = 1", "FOR UPDATE"},
		"delete cascades":               {"DELETE FROM parents WHERE id = 1", "children", "id = 1", "FOR UPDATE"},
		"insert refers":                 {"INSERT INTO children (id, parent) VALUES (2, 2)", "parents", "id = 2", "FOR KEY SHARE"},
		"insert refers to nothing":      {"INSERT INTO children (id, note) VALUES (2, 'x')", "parents", "id = 2", ""},
		"update refers":                 {"UPDATE children SET parent = 2 WHERE id = 1", "parents", "id = 2", "FOR KEY SHARE"},
		"upsert":                        {"INSERT INTO parents (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET note = 'x' WHERE parents.code = 'a'", "parents", "id = 1", "FOR NO KEY UPDATE"},
		"upsert of a key":               {"INSERT INTO parents (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET code = 'z'", "parents", "id = 1", "FOR UPDATE"},
		"upsert of nothing":             {"INSERT INTO parents (id) VALUES (1) ON CONFLICT (id) DO NOTHING", "parents", "id = 1", ""},
		"select for no key update":      {"SELECT id FROM parents WHERE id = 1 FOR NO KEY UPDATE", "parents", "id = 1", "FOR NO KEY UPDATE"},
		"select for share of":           {"SELECT p.id FROM parents p WHERE p.id = 1 FOR SHARE OF p", "parents", "id = 1", "FOR SHARE"},
		"select":                        {"SELECT id FROM parents WHERE id = 1", "parents", "id = 1", ""},
		"a CTE that writes":             {"WITH w AS (UPDATE parents SET note = 'x' WHERE id = 1 RETURNING id) SELECT id FROM w", "parents", "id = 1", "FOR NO KEY UPDATE"},
		"a sub-select that locks":       {"UPDATE children SET note = 'x' WHERE parent = (SELECT id FROM parents WHERE id = 1 FOR UPDATE)", "parents", "id = 1", "FOR UPDATE"},
		"the source of an insert locks": {"INSERT INTO children (id, note) SELECT 7, note FROM parents WHERE id = 1 FOR UPDATE", "parents", "id = 1", "FOR UPDATE"},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			for _, l := range predicted(t, c.sql) {
				if l.Kind == lockRows && (l.Object == c.table || l.Object == "what it selects") {
					said = l.Mode
				}
			}
			if said != c.mode {
				t.Errorf("said %q, want %q", said, c.mode)
			}
			if got := refusedBeside(t, pool, c.sql, "SELECT FROM "+c.table+" WHERE "+c.row); !slices.Equal(got, refused[said]) {
				t.Errorf("%q refuses %q, PostgreSQL %q", said, refused[said], got)
			}
		})
	}
}

// refusedBeside runs sql in a transaction that stays open, and returns the row
// locks that another one is refused.
func refusedBeside(t *testing.T, pool *pgxpool.Pool, sql, query string) []string {
	t.Helper()
	ctx := t.Context()
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, mode := range []string{"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"} {
		_, err := pool.Exec(ctx, query+" "+mode+" NOWAIT")
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "55P03"):
			out = append(out, mode)
		default:
			t.Fatal(err)
		}
	}
	return out
}

// TestForeignKeysLockWhenTheStatementEnds: the triggers that check them run
// behind all that a statement writes, the record of a fused one too.
func TestForeignKeysLockWhenTheStatementEnds(t *testing.T) {
	locks := predicted(t, "INSERT INTO children (id, parent) VALUES (2, 2)")
	if len(locks) != 2 || locks[0].Kind != lockUnique || locks[1].Object != "parents" {
		t.Errorf("%+v", locks)
	}
	doc := example(t)
	transfer := doc.find("CreateTransfer").Locks
	if last := transfer[len(transfer)-1]; last.Kind != lockUnique {
		t.Errorf("of a step, before the record: %+v", transfer)
	}
}

// TestRowsAreCounted: one row, or several in an order.
func TestRowsAreCounted(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT id FROM parents WHERE id = $1 FOR UPDATE":                                                                       "one",
		"SELECT id FROM parents WHERE note = $1 LIMIT 1 FOR UPDATE":                                                             "one",
		"SELECT id FROM parents WHERE note = $1 ORDER BY code, id FOR UPDATE":                                                   "in the order of code, id",
		"SELECT id FROM parents WHERE note = $1 FOR UPDATE":                                                                     "in no set order, where there are several",
		"SELECT id FROM parents WHERE part = $1 FOR UPDATE":                                                                     "in no set order, where there are several", // a partial index
		"UPDATE parents SET note = $1 WHERE code = $2":                                                                          "one",
		"DELETE FROM children WHERE parent = $1":                                                                                "in no set order, where there are several",
		"WITH w AS (UPDATE children SET note = $1 WHERE id = $2 RETURNING id) SELECT id FROM w":                                 "one",
		"WITH r AS (SELECT id FROM children WHERE id = $2), w AS (UPDATE children SET note = $1 RETURNING id) SELECT id FROM w": "in no set order, where there are several",
	} {
		locks := predicted(t, sql)
		if len(locks) == 0 || locks[0].Rows != want {
			t.Errorf("%s\n got %+v\nwant %q", sql, locks, want)
		}
	}
}

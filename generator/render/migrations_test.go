package render

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

const noon = "20260102120000"

func catalog(n schema.Numbering) *schema.Catalog {
	return &schema.Catalog{Runtime: 1, Numbering: n, Markers: map[string]string{}}
}

func paymentsIntent() *model.Intent {
	return &model.Intent{
		Table: model.TableName{Schema: "public", Name: "payments"}, Columns: []string{"tenant_id", "order"},
		Index: "payments_tenant_id_order_intent", Missing: true,
	}
}

func openLoans() *model.Intent {
	return &model.Intent{
		Table: model.TableName{Schema: "lib", Name: "Loans"}, Columns: []string{"book_id"},
		Where: "returned_at IS NULL\n AND note <> 'a%b  c'", Index: "Loans_book_id_intent", Missing: true,
	}
}

func eventsIntent() *model.Intent {
	return &model.Intent{
		Table: model.TableName{Name: "events"}, Columns: []string{"tenant_id", "at"},
		Index: "events_tenant_id_at_intent", Missing: true, Partitioned: true,
	}
}

func TestMigrationsGolden(t *testing.T) {
	got, err := Migrations("db/migrations", catalog(schema.Numbering{Width: 5, Last: 6}),
		[]*model.Intent{paymentsIntent(), openLoans(), eventsIntent()}, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	compareFolder(t, "testdata/golden/migrations", got)
	for _, f := range got {
		if !f.Once {
			t.Errorf("%s could be changed by a later run", f.Path)
		}
	}
}

// paths are the names of files, in order.
func paths(list []files.File) string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Path
	}
	return strings.Join(names, " ")
}

func TestMigrationNumbers(t *testing.T) {
	tests := []struct {
		name      string
		numbering schema.Numbering
		want      string
	}{
		{"an empty folder", schema.Numbering{}, "m/00001_payments_intent.sql m/00002_loans_intent.sql"},
		{"three digits", schema.Numbering{Width: 3, Last: 41}, "m/042_payments_intent.sql m/043_loans_intent.sql"},
		{"time", schema.Numbering{Timestamp: true, Width: 14, Last: 20250101000000}, "m/20260102120000_payments_intent.sql m/20260102120001_loans_intent.sql"},
		{"time, the last one in the future", schema.Numbering{Timestamp: true, Width: 14, Last: 20271231235959}, "m/20280101000000_payments_intent.sql m/20280101000001_loans_intent.sql"},
		{"time, the last one is none", schema.Numbering{Timestamp: true, Width: 14, Last: 20269999999999}, "m/20270000000000_payments_intent.sql m/20270000000001_loans_intent.sql"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Migrations("m", catalog(tt.numbering), []*model.Intent{paymentsIntent(), openLoans()}, "", noon)
			if err != nil {
				t.Fatal(err)
			}
			if paths(got) != tt.want {
				t.Errorf("got %s, want %s", paths(got), tt.want)
			}
		})
	}
}

func TestMigrationNumbersUsedUp(t *testing.T) {
	_, err := Migrations("m", catalog(schema.Numbering{Width: 2, Last: 99}), []*model.Intent{paymentsIntent()}, "", noon)
	if err == nil || !strings.Contains(err.Error(), "more digits") {
		t.Errorf("got %v", err)
	}
}

// What a marker, the catalog or an index stands for is not made again.
func TestMigrationsOnce(t *testing.T) {
	first, err := Migrations("m", &schema.Catalog{}, []*model.Intent{paymentsIntent(), paymentsIntent()}, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	if want := "m/00001_idem.sql m/00002_payments_intent.sql"; paths(first) != want {
		t.Fatalf("got %s, want %s", paths(first), want)
	}
	if !strings.HasPrefix(string(first[0].Content), "-- idemgen: runtime 1\n") {
		t.Errorf("no marker: %.80s", first[0].Content)
	}
	there := catalog(schema.Numbering{Width: 5, Last: 2})
	there.Markers[markerOf(t, first[1])] = "renamed.sql"
	held := openLoans()
	held.Missing = false
	again, err := Migrations("m", there, []*model.Intent{paymentsIntent(), held}, "", noon)
	if err != nil || len(again) != 0 {
		t.Errorf("made again: %s, %v", paths(again), err)
	}
}

// markerOf reads the marker as the catalog does: one word.
func markerOf(t *testing.T, f files.File) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(f.Content), "-- idemgen: intent ")
	id, _, _ := strings.Cut(rest, "\n")
	if !ok || strings.ContainsAny(id, " \t") {
		t.Fatalf("marker %q of %s is not one word", id, f.Path)
	}
	return id
}

// The catalog finds each migration by its marker, however the file is named.
func TestMarkersAreReadBack(t *testing.T) {
	intents := []*model.Intent{paymentsIntent(), openLoans(), eventsIntent()}
	made, err := Migrations("m", &schema.Catalog{}, intents, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	list := []schema.File{{Path: "m/00000_tables.sql", Text: migratedTables}}
	for i, f := range made {
		list = append(list, schema.File{Path: fmt.Sprintf("m/%05d_renamed.sql", i+7), Text: string(f.Content)})
	}
	var diags diag.List
	cat := schema.Build(list, &diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	if cat.Runtime != 1 || len(cat.Markers) != len(intents) {
		t.Errorf("runtime %d, markers %v", cat.Runtime, cat.Markers)
	}
	again, err := Migrations("m", cat, intents, "", noon)
	if err != nil || len(again) != 0 {
		t.Errorf("made again: %s, %v", paths(again), err)
	}
}

const migratedTables = `
CREATE TABLE payments (tenant_id text NOT NULL, "order" text NOT NULL);
CREATE SCHEMA lib;
CREATE TABLE lib."Loans" (book_id bigint NOT NULL, returned_at timestamptz, note text NOT NULL);
CREATE TABLE events (tenant_id text NOT NULL, at date NOT NULL) PARTITION BY RANGE (at);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
`

// The migrations do what they say, twice, and undo it.
func TestMigrationsRun(t *testing.T) {
	pool := idemtest.Pool(t, migratedTables)
	made, err := Migrations("m", catalog(schema.Numbering{}), []*model.Intent{paymentsIntent(), openLoans(), eventsIntent()}, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, f := range made {
			runGoose(t, pool, string(f.Content), "Up")
		}
	}
	insertTwice(t, pool, `INSERT INTO payments VALUES ('t', 'o')`, true)
	insertTwice(t, pool, `INSERT INTO lib."Loans" VALUES (1, NULL, '')`, true)
	insertTwice(t, pool, `INSERT INTO lib."Loans" VALUES (2, now(), '')`, false)
	insertTwice(t, pool, `INSERT INTO events VALUES ('t', '2026-05-05')`, true)
	for _, f := range made {
		runGoose(t, pool, string(f.Content), "Down")
	}
	insertTwice(t, pool, `INSERT INTO payments VALUES ('t', 'p')`, false)
}

// Pitfall 24: a build that failed leaves an INVALID index, which holds nothing
// and must not be taken for the real one.
func TestMigrationsReplaceAnInvalidIndex(t *testing.T) {
	pool := idemtest.Pool(t, migratedTables, `INSERT INTO payments VALUES ('t', 'o'), ('t', 'o')`)
	made, err := Migrations("m", catalog(schema.Numbering{}), []*model.Intent{paymentsIntent()}, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	up := gooseStatements(string(made[0].Content), "Up")
	if err := execEach(pool, up); err == nil {
		t.Fatal("the index was built over duplicates")
	}
	var duplicates int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM ("+duplicatesQuery(t, string(made[0].Content))+") d").Scan(&duplicates); err != nil || duplicates != 1 {
		t.Errorf("the commented query finds %d duplicates: %v", duplicates, err)
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM payments`); err != nil {
		t.Fatal(err)
	}
	if err := execEach(pool, up); err != nil {
		t.Fatal(err)
	}
	insertTwice(t, pool, `INSERT INTO payments VALUES ('t', 'o')`, true)
}

// duplicatesQuery is the query in the head of a migration, without its comment
// signs.
func duplicatesQuery(t *testing.T, migration string) string {
	t.Helper()
	var query []string
	for line := range strings.Lines(migration) {
		if text, ok := strings.CutPrefix(line, "--   "); ok {
			query = append(query, strings.TrimSuffix(strings.TrimSpace(text), ";"))
		}
	}
	return strings.Join(query, "\n")
}

func insertTwice(t *testing.T, pool *pgxpool.Pool, sql string, refused bool) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Exec(t.Context(), sql)
	if (err != nil) != refused {
		t.Errorf("twice %s: %v", sql, err)
	}
}

func runGoose(t *testing.T, pool *pgxpool.Pool, migration, direction string) {
	t.Helper()
	statements := gooseStatements(migration, direction)
	if len(statements) == 0 {
		t.Fatalf("nothing to run %s in:\n%s", direction, migration)
	}
	if err := execEach(pool, statements); err != nil {
		t.Fatal(err)
	}
}

// execEach runs statements one by one outside a transaction.
func execEach(pool *pgxpool.Pool, statements []string) error {
	for _, s := range statements {
		if _, err := pool.Exec(context.Background(), s); err != nil {
			return err
		}
	}
	return nil
}

// gooseStatements cuts a migration as goose does: at semicolons that end a
// line, outside comments.
func gooseStatements(migration, direction string) []string {
	_, part, _ := strings.Cut(migration, "-- +goose "+direction+"\n")
	part, _, _ = strings.Cut(part, "-- +goose ")
	var out []string
	var b strings.Builder
	for line := range strings.Lines(part) {
		if strings.HasPrefix(line, "--") {
			continue
		}
		b.WriteString(line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			out = append(out, b.String())
			b.Reset()
		}
	}
	return out
}

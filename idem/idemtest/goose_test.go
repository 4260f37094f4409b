package idemtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/schema"
)

func TestUpStatements(t *testing.T) {
	text := strings.Join([]string{
		"-- +goose NO TRANSACTION", "-- +goose Up", "-- a note;", "CREATE TABLE a (x int);", "INSERT INTO a", "VALUES (1); -- one",
		"-- +goose StatementBegin", "DO $$ BEGIN", "PERFORM 1;", "END $$;", "-- +goose StatementEnd",
		"SELECT 2", "-- +goose Down", "DROP TABLE a;",
	}, "\n")
	got, transaction, err := upStatements(text)
	want := []string{"-- a note;\nCREATE TABLE a (x int);\n", "INSERT INTO a\nVALUES (1); -- one\n", "DO $$ BEGIN\nPERFORM 1;\nEND $$;\n", "SELECT 2\n"}
	if err != nil || transaction || !slices.Equal(got, want) {
		t.Errorf("%q, in a transaction: %t, %v", got, transaction, err)
	}
	if _, _, err := upStatements("-- +goose ENVSUB ON\n-- +goose Up\nSELECT 1;"); err == nil {
		t.Error("ENVSUB is passed over")
	}
}

// Migrations run by number, not by name; those of the runtime replace the
// template's tables, and an index may be built concurrently.
func TestMigrated(t *testing.T) {
	folder := t.TempDir()
	runtime, err := schema.FS.ReadFile("00001_idem.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"1_a.sql":    "-- +goose Up\nCREATE TABLE a (x int);\n-- +goose Down\nDROP TABLE a;",
		"2_b.sql":    "-- +goose Up\nALTER TABLE a ADD y int;",
		"10_c.sql":   "-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY a_y ON a (y);\nDROP INDEX CONCURRENTLY a_y;",
		"11_run.sql": runtimeMark + string(runtime),
		"notes.sql":  "this is no migration",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec(Migrated(t, folder), "SELECT y FROM a; SELECT key FROM idem.keys"); err != nil {
		t.Error(err)
	}
}

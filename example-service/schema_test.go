package main

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/schema"
)

// The migration with the runtime's tables is written once and never changed:
// here, where it can still be written anew, it must be the current one.
func TestRuntimeMigrationIsCurrent(t *testing.T) {
	text, err := fs.ReadFile(migrations, "db/migrations/00004_idem.sql")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), strings.TrimSpace(schema.Up())) {
		t.Error("00004_idem.sql differs from schema/: delete it and run go generate")
	}
}

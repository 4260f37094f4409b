// Package schema holds the goose migrations of the runtime's tables, which live
// in PostgreSQL schema idem.
package schema

import (
	"embed"
	"strings"
)

// Version is the version of the tables that this runtime works with, the value
// of idem.version() in the database.
const Version = 1

// FS holds the migrations, 00001_idem.sql and on.
//
//go:embed *.sql
var FS embed.FS

// Up returns the SQL that makes the tables in an empty database: the Up parts
// of all migrations in order, as one script.
func Up() string {
	entries, err := FS.ReadDir(".")
	if err != nil {
		panic(err) // an embedded folder can be read
	}
	var up strings.Builder
	for _, entry := range entries {
		text, err := FS.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		up.WriteString(upPart(string(text)))
	}
	return up.String()
}

// upPart is what goose runs to migrate up. Its other markers are comments to
// PostgreSQL.
func upPart(migration string) string {
	_, part, _ := strings.Cut(migration, "-- +goose Up\n")
	part, _, _ = strings.Cut(part, "-- +goose Down")
	return part
}

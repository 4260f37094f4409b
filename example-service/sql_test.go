package main

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/idem/idemtest"
)

//go:embed internal/api/sql/*.sql
var emitted embed.FS

// emittedSQL are the emitted files, by base name.
func emittedSQL(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	files, err := fs.Glob(emitted, "internal/api/sql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := emitted.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file[strings.LastIndexByte(file, '/')+1:]] = string(text)
	}
	return texts
}

var parameterLine = regexp.MustCompile(`(?m)^-- \$(\d+) `)

// Every section of every emitted file is a statement that PostgreSQL takes on
// the migrated schema, with the parameters that its comments list, and with
// the result that the runtime reads.
func TestEverySectionIsPrepared(t *testing.T) {
	pool := idemtest.Open(t, newDatabase(t), nil)
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	files := emittedSQL(t)
	if len(files) != 19 {
		t.Errorf("%d files for 19 operations", len(files))
	}
	for file, text := range files {
		parts := idemtest.Sections(text)
		if len(parts) == 0 {
			t.Errorf("%s has no section", file)
		}
		for section, sql := range parts {
			t.Run(file+" "+section, func(t *testing.T) { checkPrepared(t, conn.Conn(), section, sql) })
		}
	}
}

func checkPrepared(t *testing.T, conn *pgx.Conn, section, sql string) {
	t.Helper()
	prepared, err := conn.PgConn().Prepare(t.Context(), "", sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := parameterLine.FindAllStringSubmatch(sql, -1)
	for i, m := range listed {
		if m[1] != fmt.Sprint(i+1) {
			t.Errorf("parameter %d is listed as $%s", i+1, m[1])
		}
	}
	if len(listed) != len(prepared.ParamOIDs) {
		t.Errorf("%d parameters are listed, PostgreSQL wants %d", len(listed), len(prepared.ParamOIDs))
	}
	result := describe(conn, prepared)
	kind, _, _ := strings.Cut(section, ".") // of a step: with its name
	want, fixed := map[string]string{
		"keyed":    "replayed bool, status int2, headers jsonb, body text, fingerprint bytea",
		"prior":    "replayed bool, status int2, headers text, body text, fingerprint bytea",
		"unkeyed":  "replayed bool, status int2, headers jsonb, body text, fingerprint bytea",
		"claim":    "",
		"existing": "body text, headers text",
	}[kind]
	if !fixed && kind != "step" {
		t.Errorf("a section of an unknown name")
	}
	if fixed && result != want {
		t.Errorf("result %s\nwant   %s", result, want)
	}
}

func describe(conn *pgx.Conn, prepared *pgconn.StatementDescription) string {
	var columns []string
	for _, field := range prepared.Fields {
		name := fmt.Sprint(field.DataTypeOID)
		if known, ok := conn.TypeMap().TypeForOID(field.DataTypeOID); ok {
			name = known.Name
		}
		columns = append(columns, field.Name+" "+name)
	}
	return strings.Join(columns, ", ")
}

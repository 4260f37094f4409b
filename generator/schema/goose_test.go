package schema

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

func TestCase_gen_8_GooseFiles(t *testing.T) {
	const up = "-- +goose Up\n"
	for name, tt := range map[string]struct {
		text    string
		line    int
		message string
	}{
		"fine":             {up + "-- +goose StatementBegin\nSELECT 1;\n-- +goose StatementEnd\n-- +goose Down\n", 0, ""},
		"options first":    {"-- +goose NO TRANSACTION\n" + up + "SELECT 1;", 0, ""},
		"no mark":          {"-- mine\nCREATE TABLE t (a int);", 1, "has no -- +goose Up"},
		"empty":            {"", 1, "has no -- +goose Up"},
		"other tool":       {"-- migrate:up\nCREATE TABLE t (a int);", 1, "has no -- +goose Up"},
		"down first":       {"-- +goose Down\nSELECT 1;\n" + up, 1, "stands before -- +goose Up"},
		"never ends":       {up + "\n-- +goose StatementBegin\nSELECT 1;\n", 3, "has no StatementEnd"},
		"ends too late":    {up + "-- +goose StatementBegin\nSELECT 1;\n-- +goose Down\n-- +goose StatementEnd\n", 2, "no StatementEnd before -- +goose Down"},
		"begins twice":     {up + "-- +goose StatementBegin\n-- +goose StatementBegin\nSELECT 1;\n-- +goose StatementEnd\n", 2, "before the next one"},
		"never begins":     {up + "SELECT 1;\n-- +goose StatementEnd\n", 3, "has no StatementBegin"},
		"up twice":         {up + "SELECT 1;\n" + up + "SELECT 2;\n", 3, "-- +goose Up stands twice"},
		"down moved in":    {up + "SELECT 1;\n  -- +goose Down\nSELECT 2;\n", 3, "sqlc does not see this mark"},
		"down in capitals": {up + "SELECT 1;\n-- +goose DOWN\nSELECT 2;\n", 3, "sqlc does not see this mark"},
		"unknown mark":     {up + "-- +goose Begin\nSELECT 1;\n", 2, "goose does not know the mark Begin"},
		"variables":        {up + "-- +goose ENVSUB ON\nSELECT 1;\n", 0, ""},
		"CRLF and cases":   {"-- +GOOSE up\r\n-- +goose statementbegin\r\nSELECT 1;\r\n-- +goose StatementEnd\r\n", 0, ""},
	} {
		var diags diag.List
		CheckGoose([]File{file("00001_a.sql", tt.text)}, &diags)
		got := diags.Sorted()
		if tt.message == "" {
			if len(got) > 0 {
				t.Errorf("%s: %v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Code != diag.MigrationForm || got[0].Pos.Line != tt.line || !strings.Contains(got[0].Message, tt.message) || got[0].Hint == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCase_gen_8_NumberedBesideUnnumbered(t *testing.T) {
	const up = "-- +goose Up\n"
	var diags diag.List
	CheckGoose([]File{file("00001_a.sql", up), file("schema.sql", "")}, &diags)
	got := diags.Sorted()
	if len(got) != 1 || got[0].Code != diag.MigrationForm || got[0].Pos.File != "db/migrations/schema.sql" || !strings.Contains(got[0].Message, "has no number") {
		t.Errorf("got %v", got)
	}
}

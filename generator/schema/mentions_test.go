package schema

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

const lockers = "CREATE TABLE lockers (id bigint PRIMARY KEY, code text, size int);\n"

// What a constraint or index names and nothing makes is told at the migration,
// not by goose when the service is deployed.
func TestConstraintsOfNothing(t *testing.T) {
	tests := []struct{ name, sql, message, hint string }{
		{"table", lockers + "CREATE TABLE parcels (id int, locker_id bigint REFERENCES locker (id));", "2:59: error: the table locker", "lockers"},
		{"table of nothing alike", lockers + "CREATE TABLE parcels (id int, depot_id bigint REFERENCES depots);", "2:58: warning: the table depots", "schema"},
		{"table in ALTER", lockers + "ALTER TABLE lockers ADD FOREIGN KEY (size) REFERENCES public.locker (id);", "2:55: error: the table public.locker", "lockers"},
		{"referenced column", lockers + "CREATE TABLE parcels (locker_id bigint REFERENCES lockers (idd));", "2:40: error: the column idd of public.lockers", "id?"},
		{"own column of a foreign key", lockers + "ALTER TABLE lockers ADD FOREIGN KEY (sizes) REFERENCES lockers (id);", "2:25: error: the column sizes", "size?"},
		{"check", lockers + "ALTER TABLE lockers ADD CHECK (code <> '' AND lengthy > 0 AND length(lengthy) > 1);", "2:47: error: the column lengthy", "check the name"},
		{"check in CREATE TABLE", "CREATE TABLE a (n int CHECK (m > 0));", "1:30: error: the column m", ""},
		{"primary key", "CREATE TABLE a (n int, PRIMARY KEY (m));", "1:24: error: the column m", ""},
		{"index", lockers + "CREATE INDEX ON lockers (cod);", "2:17: error: the column cod", "code?"},
		{"index on an expression", lockers + "CREATE INDEX ON lockers (lower(cod));", "2:32: error: the column cod", "code?"},
		{"index predicate", lockers + "CREATE UNIQUE INDEX ON lockers (code) INCLUDE (size) WHERE opened;", "2:60: error: the column opened", ""},
		{"dropped column", lockers + "ALTER TABLE lockers DROP COLUMN code;\nCREATE INDEX ON lockers (code);", "3:17: error: the column code", ""},
	}
	for _, tt := range tests {
		_, diags := tryBuild(tt.sql)
		got := diags.Sorted()
		if len(got) != 1 {
			t.Errorf("%s: want one finding, got %v", tt.name, got)
			continue
		}
		at, what, _ := strings.Cut(tt.message, ": ")
		severity, message, _ := strings.Cut(what, ": ")
		d := got[0]
		if d.Code != diag.CatalogUnknown || string(d.Severity) != severity || !strings.HasSuffix(d.Pos.String(), ":"+at) ||
			!strings.Contains(d.Message, "no migration makes "+message) || !strings.Contains(d.Hint, tt.hint) {
			t.Errorf("%s: got %s\n  hint: %s", tt.name, d.Error(), d.Hint)
		}
	}
}

// Tables and columns that may be made where nobody sees it are not doubted.
func TestConstraintsOfTheUnseen(t *testing.T) {
	refer := "CREATE TABLE parcels (id int, locker_id bigint REFERENCES locker (id));"
	for name, sql := range map[string]string{
		"made later":         "CREATE TABLE parcels (locker_id bigint REFERENCES lockers);\n" + lockers,
		"itself":             "CREATE TABLE a (id int PRIMARY KEY, up int REFERENCES a (id));",
		"extension":          lockers + "CREATE EXTENSION postgis;" + refer,
		"foreign schema":     lockers + "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO public;" + refer,
		"function":           lockers + "CREATE FUNCTION mk() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'x'; END $$;\nSELECT mk();" + refer,
		"function in a DO":   lockers + "CREATE FUNCTION mk() RETURNS void LANGUAGE plpgsql AS $$ BEGIN END $$;\nDO $$ BEGIN PERFORM mk(); END $$;" + refer,
		"dynamic SQL":        lockers + "DO $$ BEGIN EXECUTE format('%s', x); END $$;" + refer,
		"procedure":          lockers + "CALL mk();" + refer,
		"guarded":            lockers + "DO $$ BEGIN ALTER TABLE lockers ADD FOREIGN KEY (nope) REFERENCES locker (id); EXCEPTION WHEN duplicate_object THEN NULL; END $$;",
		"schema of others":   lockers + "CREATE TABLE parcels (user_id uuid REFERENCES auth.users (id));",
		"renamed":            lockers + "ALTER TABLE lockers RENAME TO boxes;\nCREATE TABLE parcels (id int REFERENCES boxes (id));",
		"renamed column":     lockers + "ALTER TABLE lockers RENAME code TO pin;\nALTER TABLE lockers ADD CHECK (pin <> '');",
		"whole row":          lockers + "ALTER TABLE lockers ADD CHECK (lockers IS NOT NULL AND lockers.code <> '' AND tableoid > 0);",
		"columns of a type":  "CREATE TYPE kind AS (a int);\nCREATE TABLE x OF kind;\nALTER TABLE x ADD CHECK (a > 0);",
		"materialized view":  lockers + "CREATE MATERIALIZED VIEW v AS SELECT * FROM lockers, unknown_function();\nCREATE INDEX ON v (x);",
		"inherited":          lockers + "CREATE TABLE big (CHECK (size > 9)) INHERITS (lockers);",
		"like":               lockers + "CREATE TABLE other (LIKE lockers, CHECK (size > 9));",
		"added in one go":    lockers + "ALTER TABLE lockers ADD CHECK (extra > 0), ADD COLUMN extra int;",
		"key of a partition": "CREATE TABLE p (a int, b int) PARTITION BY LIST (a);\nCREATE TABLE p1 PARTITION OF p (CHECK (b > 0)) FOR VALUES IN (1);\nCREATE INDEX ON p (b);",
	} {
		if _, diags := tryBuild(sql); len(diags.Sorted()) > 0 {
			t.Errorf("%s: %v", name, diags.Sorted())
		}
	}
}

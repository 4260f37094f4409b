package schema

import (
	"fmt"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

const viewTables = `
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TABLE plain (id int PRIMARY KEY, note text);
CREATE TABLE hooked (id int PRIMARY KEY);
CREATE TRIGGER s AFTER INSERT ON hooked EXECUTE FUNCTION f();
CREATE TABLE ruled (id int);
CREATE RULE r AS ON INSERT TO ruled DO ALSO SELECT 1;
CREATE TABLE parted (id int) PARTITION BY HASH (id);
CREATE TABLE secured (id int);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE TABLE filtered (id int);
CREATE TRIGGER b BEFORE INSERT ON filtered FOR EACH ROW EXECUTE FUNCTION f();
`

func everything() model.TableTraits {
	return model.TableTraits{StatementTriggers: true, RowTriggers: true, Rules: true, Partitioned: true, RowSecurity: true, View: true, OtherWrites: true}
}

func TestCase_views_1_TraitsOfBases(t *testing.T) {
	for _, tt := range []struct {
		view   string
		want   model.TableTraits
		writes string
	}{
		{"CREATE VIEW v AS SELECT id FROM plain;", model.TableTraits{View: true}, "[plain v]"},
		{"CREATE VIEW v AS SELECT id FROM hooked;", model.TableTraits{View: true, StatementTriggers: true, OtherWrites: true}, "[hooked v]"},
		{"CREATE VIEW w AS SELECT id FROM hooked; CREATE VIEW v AS SELECT id FROM w;", model.TableTraits{View: true, StatementTriggers: true, OtherWrites: true}, "[hooked v w]"},
		{"CREATE VIEW v AS SELECT id FROM ruled;", model.TableTraits{View: true, Rules: true}, "[ruled v]"},
		{"CREATE VIEW v AS SELECT id FROM parted;", model.TableTraits{View: true, Partitioned: true}, "[parted v]"},
		{"CREATE VIEW v AS SELECT id FROM secured;", model.TableTraits{View: true, RowSecurity: true}, "[secured v]"},
		{"CREATE VIEW v AS SELECT id FROM filtered;", model.TableTraits{View: true, RowTriggers: true, OtherWrites: true}, "[filtered v]"},
		{"CREATE VIEW v AS SELECT id FROM extension_table;", everything(), "[v]"},
		{"CREATE VIEW v AS SELECT id FROM plain; CREATE OR REPLACE VIEW v AS SELECT id FROM hooked;", model.TableTraits{View: true, StatementTriggers: true, OtherWrites: true}, "[hooked v]"},
		{"CREATE VIEW v AS SELECT id FROM plain; ALTER TABLE plain RENAME TO p2;", model.TableTraits{View: true}, "[p2 v]"},
		{"CREATE VIEW v AS SELECT id FROM plain WHERE EXISTS (SELECT FROM hooked);", model.TableTraits{View: true}, "[plain v]"},
		{"CREATE VIEW v AS WITH c AS (SELECT id FROM hooked) SELECT c.id FROM c JOIN plain USING (id);", model.TableTraits{View: true, StatementTriggers: true, OtherWrites: true}, "[hooked plain v]"},
		{"CREATE VIEW v AS SELECT oid AS id FROM pg_catalog.pg_class;", model.TableTraits{View: true}, "[v]"},
	} {
		cat := mustBuild(t, viewTables+tt.view)
		shape := cat.Analyze("INSERT INTO v (id) VALUES ($1)", diag.Pos{}, &diag.List{})
		if shape.TargetTraits != tt.want {
			t.Errorf("%s: traits %+v", tt.view, shape.TargetTraits)
		}
		if got := fmt.Sprint(shape.Writes); got != tt.writes {
			t.Errorf("%s: writes %s", tt.view, got)
		}
	}
}

func TestWritesAlongSearchPath(t *testing.T) {
	cat := mustBuild(t, "CREATE SCHEMA app; SET search_path = app; CREATE TABLE t (id int);")
	shape := cat.Analyze("INSERT INTO t (id) VALUES ($1)", diag.Pos{}, &diag.List{})
	if got := fmt.Sprint(shape.Writes); got != "[app.t]" {
		t.Errorf("writes %s", got)
	}
}

func TestCase_views_2_CallsAndOtherWrites(t *testing.T) {
	cat := mustBuild(t, viewTables+`
CREATE FUNCTION take(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE counted (id int DEFAULT take('x'), n int DEFAULT abs(1));`)
	for sql, want := range map[string][2]bool{
		"SELECT take($1)":                              {true, false},
		"SELECT ext.take($1)":                          {true, false},
		"SELECT pg_catalog.lower($1), abs(1)":          {false, false},
		"INSERT INTO counted (n) VALUES ($1)":          {false, true},
		"INSERT INTO plain (note) VALUES (upper($1))":  {false, false},
		"INSERT INTO filtered (id) VALUES ($1)":        {false, true},
		"INSERT INTO plain SELECT id FROM take('') id": {true, false},
	} {
		shape := cat.Analyze(sql, diag.Pos{}, &diag.List{})
		if shape.Calls != want[0] || shape.TargetTraits.OtherWrites != want[1] {
			t.Errorf("%s: calls %v, other writes %v", sql, shape.Calls, shape.TargetTraits.OtherWrites)
		}
	}
}

func TestPartitionKey(t *testing.T) {
	for ddl, want := range map[string]string{
		"CREATE TABLE t (a int, b int) PARTITION BY HASH (a, b);":                           "[a b] false",
		"CREATE TABLE t (a int);":                                                           "[] false",
		"CREATE TABLE t (a int) PARTITION BY RANGE (abs(a));":                               "[] true",
		"CREATE TABLE t (a int) PARTITION BY HASH (a); ALTER TABLE t RENAME COLUMN a TO c;": "[c] false",
		"CREATE TABLE t (a int, b int) PARTITION BY HASH (a); CREATE TABLE p PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0) PARTITION BY LIST (b);": "[a b] false",
	} {
		columns, byExpression := mustTable(t, mustBuild(t, ddl), "t").PartitionKey()
		if got := fmt.Sprint(columns, byExpression); got != want {
			t.Errorf("%s: %s", ddl, got)
		}
	}
}

func TestForeignKeyCascades(t *testing.T) {
	cat := mustBuild(t, `CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE c (a int REFERENCES p, b int REFERENCES p ON DELETE CASCADE, c int REFERENCES p ON UPDATE SET NULL, d int REFERENCES p ON DELETE RESTRICT);`)
	var got []bool
	for _, f := range mustTable(t, cat, "c").ForeignKeys {
		got = append(got, f.Cascades)
	}
	if !slices.Equal(got, []bool{false, true, true, false}) {
		t.Errorf("got %v", got)
	}
}

package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

func file(name, text string) File { return File{Path: "db/migrations/" + name, Text: text} }

func TestCase_gen_7_NumericOrder(t *testing.T) {
	files := []File{
		file("10_b.sql", "ALTER TABLE t ADD COLUMN b int;"),
		file("1_a.sql", "CREATE TABLE t (a int);"),
		file("2_c.sql", "ALTER TABLE t ADD COLUMN c int;"),
	}
	diags := &diag.List{}
	cat := Build(files, diags)
	if got := columnNames(mustTable(t, cat, "t")); !slices.Equal(got, []string{"a", "c", "b"}) {
		t.Errorf("applied in the order %v", got)
	}
	got := diags.Sorted()
	if len(got) != 1 || got[0].Code != diag.MigrationOrder || got[0].Pos.File != "db/migrations/10_b.sql" ||
		got[0].Pos.Line != 1 || !strings.Contains(got[0].Hint, "01_a.sql") {
		t.Errorf("diagnostics: %+v", got)
	}
}

func TestCase_gen_7_SameOrderIsFine(t *testing.T) {
	diags := &diag.List{}
	cat := Build([]File{file("00002_b.sql", "DROP TABLE t;"), file("00001_a.sql", "CREATE TABLE t (a int);")}, diags)
	if len(diags.Sorted()) != 0 || len(cat.Tables) != 0 {
		t.Errorf("got %v, tables %v", diags.Sorted(), cat.Tables)
	}
	if want := (Numbering{Width: 5, Last: 2}); cat.Numbering != want {
		t.Errorf("numbering %+v", cat.Numbering)
	}
}

func TestCase_gen_7_DoBlockType(t *testing.T) {
	cat := mustBuild(t, `-- +goose Up
-- +goose StatementBegin
DO $$ BEGIN
  CREATE TYPE mood AS ENUM ('a;b', 'ok');
EXCEPTION
  WHEN duplicate_object THEN RAISE NOTICE 'create type mood was here';
END $$;
-- +goose StatementEnd
CREATE TABLE t (m mood);`)
	if got := mustTable(t, cat, "t").Columns[0].Type; !slices.Equal(got.Enum, []string{"a;b", "ok"}) || got.Name != "public.mood" {
		t.Errorf("type %+v", got)
	}
}

func TestCase_gen_7_DoBlockRefused(t *testing.T) {
	for name, body := range map[string]string{
		"a condition":         "IF current_setting('x') = 'y' THEN\n  CREATE TYPE m AS ENUM ('a'); END IF;",
		"a loop":              "FOR r IN SELECT 1 LOOP\n  CREATE TYPE m AS ENUM ('a'); END LOOP;",
		"makes up":            "\n  EXECUTE format('ALTER TABLE %I ADD x int', 't');",
		"makes up its":        "\n  PERFORM run('CREATE TABLE x (a int)');",
		"exception handler":   "x := 1; EXCEPTION WHEN others THEN\n  DROP TABLE t;",
		"depends on":          "IF NOT EXISTS (SELECT 1) THEN x := 1; ELSE\n  DROP TABLE t; END IF;",
		"syntax error at":     "\n  CREATE TYPE m AS ENOM ('a');",
		"depends on a condit": "IF v THEN IF NOT EXISTS (SELECT 1) THEN\n DROP TABLE t; END IF; END IF;",
	} {
		_, diags := tryBuild("CREATE TABLE t (a int);\nDO $$\nBEGIN " + body + "\nEND $$;")
		got := diags.Sorted()
		if len(got) != 1 || got[0].Code != diag.MigrationForm || !strings.Contains(got[0].Message, name) || got[0].Pos.Line != 4 {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestCase_gen_7_DoBlockOfNoInterest(t *testing.T) {
	cat := mustBuild(t, `CREATE TABLE t (a int);
DO $$ BEGIN FOR i IN 1..3 LOOP INSERT INTO t VALUES (i); END LOOP; END $$;
DO $$ BEGIN IF current_setting('x') = 'y' THEN GRANT SELECT ON t TO PUBLIC; END IF; CREATE TABLE u (b int); END $$;`)
	mustTable(t, cat, "u")
}

func TestCase_gen_7_LaterPrimaryKeyAndRename(t *testing.T) {
	cat := mustBuild(t, "CREATE TABLE payments (order_id text, note text, CHECK (order_id <> ''));",
		"ALTER TABLE payments ADD PRIMARY KEY (order_id);",
		"ALTER TABLE payments RENAME COLUMN order_id TO reference;")
	table := mustTable(t, cat, "payments")
	if table.Primary == nil || table.Primary.Name != "payments_pkey" || !slices.Equal(table.Primary.Columns, []string{"reference"}) {
		t.Errorf("primary key %+v", table.Primary)
	}
	if c := table.Column("reference"); c == nil || !c.NotNull {
		t.Errorf("column %+v", c)
	}
	check := table.Checks[0]
	if check.Name != "payments_order_id_check" || check.Expression != "reference <> ''" || check.Rules["reference"] == nil {
		t.Errorf("check %+v", check)
	}
}

func TestUpPart(t *testing.T) {
	tests := []struct{ name, text, applied string }{
		{"no marks", "CREATE TABLE a (x int);", "a"},
		{"goose", "CREATE TABLE no1 (x int);\n-- +goose Up\nCREATE TABLE a (x int);\n-- +goose Down\nDROP TABLE a;", "a"},
		{"goose options", "-- +goose NO TRANSACTION\n-- +goose ENVSUB ON\n--+goose up\nCREATE TABLE a (x int);\n  -- +goose down\nDROP TABLE a;", "a"},
		{"goose crlf", "-- +goose Up\r\nCREATE TABLE a (x int);\r\n-- +goose Down\r\nDROP TABLE a;\r\n", "a"},
		{"down first", "-- +goose Down\nDROP TABLE a;\n-- +goose Up\nCREATE TABLE a (x int);", "a"},
		{"dbmate", "-- migrate:up\nCREATE TABLE a (x int);\n-- migrate:down\nDROP TABLE a;", "a"},
		{"sql-migrate", "-- +migrate Up\nCREATE TABLE a (x int);\n-- +migrate Down\nDROP TABLE a;", "a"},
		{"tern", "CREATE TABLE a (x int);\n---- create above / drop below ----\nDROP TABLE a;", "a"},
		{"only down", "-- +goose Up\n-- +goose Down\nCREATE TABLE b (x int);", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cat := mustBuild(t, tt.text)
			var got []string
			for _, table := range cat.Tables {
				got = append(got, table.Name.Name)
			}
			if strings.Join(got, " ") != tt.applied {
				t.Errorf("tables %v, want %q", got, tt.applied)
			}
		})
	}
}

func TestDownFilesAreLeftOut(t *testing.T) {
	diags := &diag.List{}
	cat := Build([]File{file("1_a.down.sql", "DROP TABLE t;"), file("1_a.up.sql", "CREATE TABLE t (a int);")}, diags)
	if len(diags.Sorted()) > 0 || len(cat.Tables) != 1 {
		t.Errorf("%v %v", diags.Sorted(), cat.Tables)
	}
}

func TestNumbering(t *testing.T) {
	tests := []struct {
		files []string
		want  Numbering
	}{
		{nil, Numbering{Width: 5}},
		{[]string{"001_a.sql", "012_b.sql"}, Numbering{Width: 3, Last: 12}},
		{[]string{"20240101120000_a.sql", "20250101120000_b.sql"}, Numbering{Timestamp: true, Width: 5, Last: 20250101120000}},
		{[]string{"schema.sql", "x_1.sql"}, Numbering{Width: 5}},
	}
	for _, tt := range tests {
		var files []File
		for _, name := range tt.files {
			files = append(files, file(name, ""))
		}
		if got := Build(files, &diag.List{}).Numbering; got != tt.want {
			t.Errorf("%v: %+v", tt.files, got)
		}
	}
}

func TestMarkers(t *testing.T) {
	cat := mustBuild(t, "-- +goose Up\n-- idemgen: runtime 3\nSELECT 1;", "-- idemgen: intent payments(tenant_id,order_id)\n-- +goose Up\n",
		"SELECT '\n -- idemgen: intent no'; -- idemgen: runtime 9")
	if cat.Runtime != 3 || len(cat.Markers) != 1 || cat.Markers["payments(tenant_id,order_id)"] != "db/migrations/b.sql" {
		t.Errorf("runtime %d, markers %v", cat.Runtime, cat.Markers)
	}
}

func TestBuildDiagnostics(t *testing.T) {
	tests := []struct {
		name, text string
		code       diag.Code
		line, col  int
		message    string
	}{
		{"syntax", "-- é\nCREATE TABLE a (x int);\nCREATE TABEL b (x int);\nCREATE TABLE c (x int);", diag.MigrationForm, 3, 8, `at or near "TABEL"`},
		{"unterminated", "CREATE TABLE a (x int);\nSELECT 'abc", diag.MigrationForm, 2, 8, "unterminated"},
		{"unknown table", "ALTER TABLE  nope ADD x int;", diag.CatalogUnknown, 1, 14, "makes the table nope"},
		{"unknown column", "CREATE TABLE t (a int);\nALTER TABLE t RENAME b TO c;", diag.CatalogUnknown, 2, 13, "column b of public.t"},
		{"unknown column type", "CREATE TABLE t (a int);\nALTER TABLE t ALTER b TYPE int;", diag.CatalogUnknown, 2, 13, "column b"},
		{"unknown index", "CREATE TABLE t (a int);\nALTER TABLE t ADD UNIQUE USING INDEX i;", diag.CatalogUnknown, 2, 19, "unique index i"},
		{"twice", "CREATE TABLE t (a int);\nCREATE TABLE t (a int);", diag.MigrationForm, 2, 14, "exists already"},
		{"column twice", "CREATE TABLE t (a int);\nALTER TABLE t ADD COLUMN a int;", diag.MigrationForm, 2, 26, "exists already"},
		{"unknown enum", "ALTER TYPE e ADD VALUE 'x';", diag.CatalogUnknown, 1, 1, "enum e"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cat, diags := tryBuild(tt.text)
			got := diags.Sorted()
			if len(got) != 1 {
				t.Fatalf("diagnostics: %v", got)
			}
			d := got[0]
			if d.Code != tt.code || d.Pos.Line != tt.line || d.Pos.Col != tt.col || !strings.Contains(d.Message, tt.message) || d.Hint == "" {
				t.Errorf("got %s (hint %q)", d.Error(), d.Hint)
			}
			if tt.name == "syntax" && (cat.Table(model.TableName{Name: "a"}) == nil || cat.Table(model.TableName{Name: "c"}) == nil) {
				t.Error("a bad statement hides the good ones")
			}
		})
	}
}

// TestIntentOfATableThatIsGone: only a migration of ours may simply be deleted.
func TestIntentOfATableThatIsGone(t *testing.T) {
	const index = "CREATE UNIQUE INDEX CONCURRENTLY i ON loans (a);"
	for text, deletable := range map[string]bool{"-- idemgen: intent loans(a)\n-- +goose Up\n" + index: true, index: false} {
		_, diags := tryBuild(text)
		got := diags.Sorted()
		if len(got) != 1 || got[0].Code != diag.CatalogUnknown || strings.Contains(got[0].Hint, "delete this migration") != deletable {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestDuplicateNumber(t *testing.T) {
	diags := &diag.List{}
	Build([]File{file("01_a.sql", ""), file("01_b.sql", "")}, diags)
	if got := diags.Sorted(); len(got) != 1 || got[0].Code != diag.MigrationForm || got[0].Pos.File != "db/migrations/01_b.sql" {
		t.Errorf("got %v", got)
	}
}

func TestTraits(t *testing.T) {
	const base = `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TABLE t (a int, tenant int) PARTITION BY LIST (tenant); CREATE TABLE p PARTITION OF t DEFAULT;`
	tests := []struct {
		ddl  string
		want model.TableTraits
	}{
		{"", model.TableTraits{Partitioned: true}},
		{"CREATE TRIGGER x AFTER INSERT ON t EXECUTE FUNCTION f();", model.TableTraits{Partitioned: true, StatementTriggers: true, OtherWrites: true}},
		{"CREATE TRIGGER x AFTER TRUNCATE ON t EXECUTE FUNCTION f();", model.TableTraits{Partitioned: true}},
		{"CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();", model.TableTraits{Partitioned: true, OtherWrites: true}},
		{"CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();", model.TableTraits{Partitioned: true, RowTriggers: true, OtherWrites: true}},
		{"CREATE TRIGGER x BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION f();", model.TableTraits{Partitioned: true, RowTriggers: true, OtherWrites: true}},
		{"CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f(); ALTER TRIGGER x ON t RENAME TO y; DROP TRIGGER y ON t;", model.TableTraits{Partitioned: true}},
		{"CREATE RULE r AS ON INSERT TO t DO ALSO SELECT 1;", model.TableTraits{Partitioned: true, Rules: true}},
		{"CREATE RULE r AS ON INSERT TO t DO ALSO SELECT 1; DROP RULE r ON t;", model.TableTraits{Partitioned: true}},
		{"ALTER TABLE t ENABLE ROW LEVEL SECURITY;", model.TableTraits{Partitioned: true, RowSecurity: true}},
		{"ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; ALTER TABLE t DISABLE ROW LEVEL SECURITY;", model.TableTraits{Partitioned: true}},
		{"DROP TABLE t; CREATE VIEW t AS SELECT 1 AS a;", model.TableTraits{View: true}},
	}
	for _, tt := range tests {
		if got := mustTable(t, mustBuild(t, base, tt.ddl), "t").Traits; got != tt.want {
			t.Errorf("%s: %+v", tt.ddl, got)
		}
	}
}

func TestViews(t *testing.T) {
	cat := mustBuild(t, `CREATE TABLE t (id bigint PRIMARY KEY, name varchar(9)); CREATE TABLE u (t_id bigint NOT NULL, n int NOT NULL);
CREATE VIEW simple AS SELECT t.*, name AS other, id::text, now(), lower(name), 1 + 1 AS two FROM t;
CREATE VIEW named (a, b) AS SELECT id, name FROM t;
CREATE VIEW joined AS SELECT * FROM t JOIN u ON u.t_id = t.id;
CREATE VIEW hidden AS SELECT * FROM (SELECT 1 x) s;
CREATE MATERIALIZED VIEW mat AS SELECT id FROM t;
CREATE TABLE copied AS SELECT id, name FROM t;
CREATE OR REPLACE VIEW named AS SELECT id AS a, name AS b, 1 AS c FROM t;`)
	for name, want := range map[string]string{
		"simple": "id bigint,name varchar(9),other varchar(9),id text,now ,lower ,two ",
		"named":  "a bigint,b varchar(9),c ",
		"joined": "id bigint,name varchar(9),t_id bigint,n integer",
		"hidden": "", "mat": "id bigint", "copied": "id bigint,name varchar(9)",
	} {
		table := mustTable(t, cat, name)
		var got []string
		for _, c := range table.Columns {
			got = append(got, c.Name+" "+c.Type.Name)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %q", name, strings.Join(got, ","))
		}
		if table.Traits.View == (name == "copied") {
			t.Errorf("%s: %+v", name, table.Traits)
		}
	}
	if !mustTable(t, cat, "simple").Columns[0].NotNull || mustTable(t, cat, "joined").Columns[0].NotNull {
		t.Error("NOT NULL of view columns")
	}
}

func TestSearchPathAndSchemas(t *testing.T) {
	cat := mustBuild(t, `SET search_path TO app, public; CREATE TYPE s AS ENUM ('a'); CREATE TABLE t (s s); CREATE UNIQUE INDEX t_s ON t (s);`,
		`ALTER TABLE app.t ADD COLUMN b app.s; ALTER SCHEMA app RENAME TO shop; CREATE TABLE x.gone (a int); DROP SCHEMA x CASCADE;`,
		`SELECT pg_catalog.set_config('search_path', '', false); CREATE TABLE public.u (a int);`)
	table := mustTable(t, cat, "t")
	if table.Name.Schema != "shop" || table.Columns[1].Type.Name != "shop.s" || !slices.Equal(uniqueNames(table), []string{"t_s"}) {
		t.Errorf("table %+v", table)
	}
	mustTable(t, cat, "u")
	if len(cat.Tables) != 2 {
		t.Errorf("tables: %d", len(cat.Tables))
	}
}

func TestDropTypeCascade(t *testing.T) {
	cat := mustBuild(t, `CREATE TYPE e AS ENUM ('a'); CREATE DOMAIN d AS int; CREATE TABLE t (a e, b d, c int); DROP TYPE e CASCADE; DROP DOMAIN d CASCADE;`)
	if got := columnNames(mustTable(t, cat, "t")); !slices.Equal(got, []string{"c"}) {
		t.Errorf("columns %v", got)
	}
}

func TestColumnDetails(t *testing.T) {
	cat := mustBuild(t, `CREATE DOMAIN pos AS int CHECK (VALUE > 0); CREATE DOMAIN small AS pos CHECK (VALUE < 10) NOT NULL;
CREATE TABLE t (a int DEFAULT 1+1, b small, c timestamptz DEFAULT now(), d serial, e int GENERATED BY DEFAULT AS IDENTITY);`)
	table := mustTable(t, cat, "t")
	for name, want := range map[string]string{"a": "1 + 1", "c": "now()", "d": "nextval('t_d_seq'::regclass)", "e": ""} {
		if got := table.Column(name).Default; got != want {
			t.Errorf("default of %s: %q", name, got)
		}
	}
	b := table.Column("b")
	if !b.NotNull || b.Type.Kind != model.KindInt4 || len(b.Type.Checks) != 2 || b.Type.Checks[0].Name != "pos_check" || b.Type.Checks[1].Name != "small_check" {
		t.Errorf("domain column %+v", b)
	}
	if e := table.Column("e"); !e.Identity || e.Generated {
		t.Errorf("identity %+v", e)
	}
	if p := table.Column("c").Pos; p.Line != 2 || p.Col != 45 || p.Width != 1 {
		t.Errorf("position %+v", p)
	}
}

// FuzzBuild: any migration gives a catalog or positions inside the file.
func FuzzBuild(f *testing.F) {
	for _, s := range []string{"-- +goose Up\nCREATE TABLE t (a int);\n-- +goose Down\nDROP TABLE t;", "DO $$ BEGIN CREATE TYPE a AS ENUM ('b'); END $$",
		"ALTER TABLE t ADD CHECK (a > 0)", "CREATE VIEW v AS SELECT * FROM t", "SELECT 'é", "ALTER TYPE a ADD VALUE 'b'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, diags := tryBuild("CREATE TABLE t (a int, b text);", text)
		lines := strings.Split(text, "\n")
		for _, d := range diags.Sorted() {
			if d.Pos.File != "db/migrations/b.sql" || d.Pos.Line < 1 || d.Pos.Line > len(lines) || d.Pos.Col < 1 || d.Pos.Col > len(lines[d.Pos.Line-1])+1 {
				t.Fatalf("%q: %s", text, d.Error())
			}
		}
	})
}

package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

const shop = `
CREATE TABLE payments (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id text NOT NULL, order_id text NOT NULL, amount numeric, note text);
CREATE TABLE accounts (id bigint PRIMARY KEY, tenant_id text, balance numeric);
CREATE TABLE lines (order_id bigint, sku bigint, qty int);
CREATE TYPE line AS (sku bigint, qty int);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TABLE audited (id int); CREATE TRIGGER x AFTER INSERT ON audited EXECUTE FUNCTION f();
`

// feedsText writes feeds in one line: "1>payments.amount" is plain and
// assigned, "1~" is not plain, "1=" is compared.
func feedsText(feeds []model.Feed) string {
	var out []string
	for _, f := range feeds {
		sign := ">"
		if !f.Assigned {
			sign = "="
		}
		if !f.Plain {
			sign += "~"
		}
		out = append(out, fmt.Sprintf("%d%s%s.%s", f.Param, sign, f.Table, f.Column))
	}
	return strings.Join(out, " ")
}

func recordsetsText(sets []model.Recordset) string {
	var out []string
	for _, s := range sets {
		text := fmt.Sprintf("%d", s.Param)
		if s.List {
			text += "[]"
		}
		for _, c := range s.Columns {
			text += " " + c.Name + ":" + c.Type
			if c.Column != "" {
				text += ">" + c.Table.String() + "." + c.Column
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func analyzed(t *testing.T, cat *Catalog, sql string) model.Shape {
	t.Helper()
	diags := &diag.List{}
	shape := cat.Analyze(sql, diag.Pos{File: "q.sql", Line: 1, Col: 1}, diags)
	for _, d := range diags.Sorted() {
		t.Errorf("%s: %s", sql, d.Error())
	}
	return shape
}

func TestAnalyzeFeeds(t *testing.T) {
	cat := mustBuild(t, shop)
	tests := []struct{ sql, feeds string }{
		{"INSERT INTO payments (tenant_id, order_id, amount) VALUES ($1, $2::text, coalesce($3, 0))",
			"1>payments.tenant_id 2>payments.order_id 3>~payments.amount"},
		{"INSERT INTO public.payments (tenant_id, amount) VALUES ($1, $2), (DEFAULT, $3 * 100)",
			"1>public.payments.tenant_id 2>public.payments.amount 3>~public.payments.amount"},
		{"INSERT INTO lines VALUES ($1, $2)", "1>lines.order_id 2>lines.sku"},
		{"INSERT INTO payments (tenant_id, order_id) SELECT $1, lower($2) FROM accounts a WHERE a.id = $3 AND a.balance > $4",
			"3=accounts.id 1>payments.tenant_id 2>~payments.order_id"},
		{"INSERT INTO payments (tenant_id, order_id) SELECT i.* FROM (SELECT $1::text, $2::text) i (x, y)",
			"1>payments.tenant_id 2>payments.order_id"},
		{"INSERT INTO payments (tenant_id, order_id) SELECT i.y, i.x FROM (VALUES ($1, $2)) i (x, y)",
			"2>payments.tenant_id 1>payments.order_id"},
		{"WITH i AS (SELECT $1::text AS a, upper($2) AS b) INSERT INTO payments (order_id, tenant_id) SELECT a, b FROM i",
			"1>payments.order_id 2>~payments.tenant_id"},
		{"INSERT INTO payments (order_id) SELECT $1 UNION ALL SELECT $2", "1>payments.order_id 2>payments.order_id"},
		{"INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = $3, tenant_id = excluded.balance::text WHERE accounts.tenant_id = $4",
			"1>accounts.id 2>accounts.balance 3>accounts.balance 2>accounts.tenant_id 4=accounts.tenant_id"},
		{"INSERT INTO lines (order_id, sku) SELECT $1, unnest($2::bigint[])", "1>lines.order_id 2>~lines.sku"},
		{"INSERT INTO lines (sku, qty) SELECT u.s, u.q FROM unnest($1::bigint[], $2::int[]) AS u(s, q)", "1>~lines.sku 2>~lines.qty"},
		{"UPDATE accounts a SET balance = a.balance - $2, tenant_id = $3 WHERE a.id = $1 AND (tenant_id = $4::text AND balance >= $2)",
			"2>~accounts.balance 3>accounts.tenant_id 1=accounts.id 4=accounts.tenant_id"},
		{"UPDATE accounts SET (balance, tenant_id) = ($1, $2) WHERE (id, tenant_id) = ($3, $4)",
			"1>accounts.balance 2>accounts.tenant_id 3=accounts.id 4=accounts.tenant_id"},
		{"UPDATE accounts SET balance = CASE WHEN $1::bool THEN $2 ELSE balance END WHERE $3 = id OR id = $4",
			"2>~accounts.balance"},
		{"DELETE FROM payments USING accounts a WHERE a.id = $1 AND payments.order_id IS NOT DISTINCT FROM $2 AND note::text = $3",
			"1=accounts.id 2=payments.order_id 3=~payments.note"},
		{"WITH d AS (UPDATE accounts SET balance = $2 WHERE id = $1 RETURNING *) INSERT INTO payments (order_id, note) SELECT $3, d.tenant_id FROM d",
			"2>accounts.balance 1=accounts.id 3>payments.order_id"},
		{"SELECT p.id FROM payments p JOIN accounts a ON a.tenant_id = $2 WHERE p.id = $1 AND balance = $3 AND unknown.x = $4",
			"2=accounts.tenant_id 1=payments.id 3=accounts.balance"},
		{"SELECT id FROM payments WHERE id = ANY($1::bigint[]) AND order_id <> $2", ""},
	}
	for _, tt := range tests {
		if got := feedsText(analyzed(t, cat, tt.sql).Feeds); got != tt.feeds {
			t.Errorf("%s:\n got  %s\n want %s", tt.sql, got, tt.feeds)
		}
	}
}

func TestAnalyzeRecordsets(t *testing.T) {
	cat := mustBuild(t, shop)
	tests := []struct{ sql, want string }{
		{`WITH o AS (INSERT INTO payments (tenant_id) VALUES ($1) RETURNING id)
INSERT INTO lines (order_id, sku, qty) SELECT o.id, x.s, x.qty::int FROM o, jsonb_to_recordset($2::jsonb) AS x(s bigint, qty numeric(5,1), extra text[])`,
			"2[] s:bigint>lines.sku qty:numeric(5,1)>lines.qty extra:text[]"},
		{"INSERT INTO lines (sku, qty) SELECT * FROM json_to_recordset($1) AS (sku bigint, qty int)", "1[] sku:bigint>lines.sku qty:integer>lines.qty"},
		{"INSERT INTO lines (sku, qty) SELECT sku, qty + 1 FROM jsonb_to_record($1) AS x(sku bigint, qty int)", "1 sku:bigint>lines.sku qty:integer"},
		{"INSERT INTO lines SELECT * FROM jsonb_populate_recordset(NULL::lines, $1)",
			"1[] order_id:bigint>lines.order_id sku:bigint>lines.sku qty:integer>lines.qty"},
		{"INSERT INTO lines (sku, qty) SELECT x.a, x.b FROM json_populate_recordset(NULL::line, $1) x(a, b)", "1[] sku:bigint>lines.sku qty:integer>lines.qty"},
		{"INSERT INTO lines (sku) SELECT x.sku FROM jsonb_to_recordset($1::jsonb) AS x(sku bigint) WHERE $1 IS NOT NULL", ""},
		{"INSERT INTO lines (sku) SELECT (e->>'sku')::bigint FROM jsonb_array_elements($1::jsonb) e", ""},
		{"UPDATE lines SET qty = x.q FROM jsonb_to_recordset($1::jsonb) AS x(s bigint, q int) WHERE sku = x.s", "1[] s:bigint q:integer>lines.qty"},
		{"SELECT id FROM payments WHERE id IN (SELECT x.id FROM jsonb_to_recordset($1::jsonb) AS x(id bigint))", "1[] id:bigint"},
		{"WITH i AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(sku bigint, qty int)) INSERT INTO lines (sku, qty) SELECT i.sku, i.qty FROM i",
			"1[] sku:bigint>lines.sku qty:integer>lines.qty"},
	}
	for _, tt := range tests {
		if got := recordsetsText(analyzed(t, cat, tt.sql).Recordsets); got != tt.want {
			t.Errorf("%s:\n got  %s\n want %s", tt.sql, got, tt.want)
		}
	}
}

func TestAnalyzeShape(t *testing.T) {
	cat := mustBuild(t, shop)
	tests := []struct {
		sql  string
		want string // the shape without feeds and recordsets, fields that aren't zero
	}{
		{"INSERT INTO payments AS p (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id",
			"insert target=payments alias=p writes=[payments] columns=[tenant_id] conflict=nothing single returning"},
		{"INSERT INTO lines DEFAULT VALUES", "insert target=lines writes=[lines] single"},
		{"INSERT INTO lines VALUES (1, 2), (3, 4)", "insert target=lines writes=[lines] columns=[order_id sku]"},
		{"INSERT INTO lines (sku) SELECT count(*) FROM payments", "insert target=lines writes=[lines] reads=[payments] columns=[sku] grouped"},
		{"INSERT INTO lines (sku) SELECT (SELECT count(*) FROM payments)", "insert target=lines writes=[lines] reads=[payments] columns=[sku]"},
		{"INSERT INTO accounts (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET balance = 0", "insert target=accounts writes=[accounts] columns=[id] conflict=update single"},
		{"WITH d AS (DELETE FROM lines RETURNING sku) UPDATE public.accounts SET balance = 1 FROM d, payments WHERE true",
			"update target=public.accounts writes=[lines public.accounts] reads=[payments] modifying"},
		{"DELETE FROM accounts x WHERE id IN (SELECT id FROM accounts FOR UPDATE SKIP LOCKED)", "delete target=accounts alias=x writes=[accounts] reads=[accounts] locks skip"},
		{"SELECT id FROM payments FOR UPDATE", "select reads=[payments] locks"},
		{"SELECT id FROM payments FOR SHARE NOWAIT", "select reads=[payments] locks skip"},
		{"SELECT DISTINCT id FROM payments", "select reads=[payments] grouped"},
		{"SELECT id FROM payments LIMIT 1", "select reads=[payments] grouped"},
		{"SELECT row_number() OVER () AS n FROM payments", "select reads=[payments] grouped"},
		{"SELECT my_agg(DISTINCT id) FROM payments", "select reads=[payments] grouped"},
		{"SELECT 1 AS a UNION SELECT 2", "select grouped"},
		{"WITH payments AS (SELECT 1 AS id) SELECT id FROM payments", "select"},
		{"INSERT INTO audited VALUES (1)", "insert target=audited writes=[audited] columns=[id] single statement-triggers"},
		{"WITH a AS (INSERT INTO audited VALUES (1) RETURNING id) INSERT INTO lines (sku) SELECT id FROM a",
			"insert target=lines writes=[audited lines] columns=[sku] modifying statement-triggers"},
	}
	for _, tt := range tests {
		if got := shapeText(analyzed(t, cat, tt.sql)); got != tt.want {
			t.Errorf("%s:\n got  %s\n want %s", tt.sql, got, tt.want)
		}
	}
}

func shapeText(s model.Shape) string {
	out := []string{string(s.Kind)}
	add := func(name string, when bool) {
		if when {
			out = append(out, name)
		}
	}
	add("target="+s.Target.String(), s.Target.Name != "")
	add("alias="+s.TargetAlias, s.TargetAlias != "")
	add(fmt.Sprint("writes=", s.Writes), len(s.Writes) > 0)
	add(fmt.Sprint("reads=", s.Reads), len(s.Reads) > 0)
	add(fmt.Sprint("columns=", s.InsertColumns), len(s.InsertColumns) > 0)
	add("conflict="+s.OnConflict, s.OnConflict != "")
	add("single", s.SingleValues)
	add("sets", s.ValuesOfSets)
	add("returning", s.Returning)
	add("modifying", s.ModifyingCTE)
	add("grouped", s.Grouped)
	add("locks", s.RowLocks)
	add("skip", s.SkipLocked)
	add("statement-triggers", s.TargetTraits.StatementTriggers)
	return strings.Join(out, " ")
}

func TestAnalyzeDiagnostics(t *testing.T) {
	cat := mustBuild(t, shop)
	tests := []struct {
		sql       string
		code      diag.Code
		line, col int
		message   string
	}{
		{"SELECT id\nFROM payments\nWHERE WHERE", diag.QuerySyntax, 12, 7, `at or near "WHERE"`},
		{"SELECT id FROM FROM x", diag.QuerySyntax, 10, 20, `at or near "FROM"`},
		{"MERGE INTO lines USING payments ON true WHEN MATCHED THEN DELETE", diag.QueryUnsupport, 10, 5, "MERGE"},
		{"TRUNCATE lines", diag.QueryUnsupport, 10, 5, "only SELECT"},
		{"INSERT INTO nope VALUES (1)", diag.CatalogUnknown, 10, 17, "table nope"},
		{"SELECT id,\n  1 + 1 FROM payments", diag.QueryUnsupport, 11, 3, "no name"},
		{"INSERT INTO lines VALUES ($1) RETURNING *, $2", diag.QueryUnsupport, 10, 48, "no name"},
		{"SELECT 1 AS a; SELECT 2", diag.QuerySyntax, 10, 20, "more than one"},
	}
	for _, tt := range tests {
		diags := &diag.List{}
		cat.Analyze(tt.sql, diag.Pos{File: "q.sql", Line: 10, Col: 5}, diags)
		got := diags.Sorted()
		if len(got) != 1 || got[0].Code != tt.code || got[0].Pos.Line != tt.line || got[0].Pos.Col != tt.col || !strings.Contains(got[0].Message, tt.message) || got[0].Hint == "" {
			t.Errorf("%s: %+v", tt.sql, got)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	cat := mustBuild(f, shop)
	for _, s := range []string{"INSERT INTO lines SELECT * FROM jsonb_populate_recordset(NULL::lines, $1)", "WITH a AS (SELECT 1) UPDATE lines SET (sku, qty) = (SELECT 1, $1)",
		"DELETE FROM lines USING accounts WHERE id = $1 RETURNING *", "VALUES ($1)", "SELECT f(x.*) FROM ROWS FROM (f(1), g(2)) x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		cat.Analyze(sql, diag.Pos{File: "q", Line: 1, Col: 1}, &diag.List{})
	})
}

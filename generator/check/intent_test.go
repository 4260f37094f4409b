package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

const intentWord = "-- @intent payments (tenant_id, order_id)"

func TestMissingIntent(t *testing.T) {
	svc := service{queries: words(createPayment, intentWord)}.ok(t)
	step := svc.Operations[0].Steps[0]
	in := step.Intent
	if !in.Missing || in.Index != "payments_tenant_id_order_id_intent" || !in.ScopeIn || in.Table.Name != "payments" ||
		!slices.Equal(in.Columns, []string{"tenant_id", "order_id"}) || step.OnIntent != "conflict" {
		t.Errorf("got %+v %s", in, step.OnIntent)
	}
	if len(svc.Intents) != 1 || !svc.Intents[0].Missing {
		t.Errorf("got %+v", svc.Intents)
	}
}

func TestIntentIsMatched(t *testing.T) {
	for _, c := range []struct {
		name, ddl, word, index string
	}{
		{"constraint", "ALTER TABLE payments ADD CONSTRAINT u UNIQUE (order_id, tenant_id);", intentWord, "u"},
		{"index", "CREATE UNIQUE INDEX u ON payments (tenant_id, order_id);", intentWord, "u"},
		{"by name", "CREATE UNIQUE INDEX u ON payments (tenant_id, order_id);", "-- @intent u", "u"},
		{"partial, same condition", "CREATE UNIQUE INDEX u ON payments (tenant_id, order_id) WHERE status <> 'captured';",
			"-- @intent payments (tenant_id, order_id) where STATUS != 'captured'", "u"},
		{"partial", "CREATE UNIQUE INDEX u ON payments (tenant_id, order_id) WHERE note IS NULL;", intentWord, ""},
		{"more columns", "CREATE UNIQUE INDEX u ON payments (tenant_id, order_id, currency);", intentWord, ""},
		{"not unique", "CREATE INDEX u ON payments (tenant_id, order_id);", intentWord, ""},
		{"deferrable", "ALTER TABLE payments ADD CONSTRAINT u UNIQUE (order_id, tenant_id) DEFERRABLE;", intentWord, ""},
		{"nulls not distinct", "CREATE UNIQUE INDEX u ON payments (tenant_id, note) NULLS NOT DISTINCT;", "-- @intent payments (tenant_id, note)", "u"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := service{migrations: payments + c.ddl, queries: words(createPayment, c.word)}.operation(t).Steps[0].Intent
			if in.Missing != (c.index == "") || c.index != "" && in.Index != c.index {
				t.Errorf("got %+v", in)
			}
		})
	}
}

func TestIntentErrors(t *testing.T) {
	for _, c := range []struct {
		name, ddl, word string
		want            want
	}{
		{"table", "", "-- @intent paymets (tenant_id)", want{diag.CatalogUnknown, "no migration makes a table named paymets", "did you mean payments?", "paymets"}},
		{"column", "", "-- @intent payments (tenant_id, ordr_id)", want{diag.CatalogUnknown, "has no column ordr_id", "did you mean order_id?", "ordr_id"}},
		{"column of the condition", "", "-- @intent payments (tenant_id) where ntoe IS NULL", want{diag.CatalogUnknown, "has no column ntoe", "did you mean note?", "ntoe"}},
		{"condition that is no boolean", "", "-- @intent payments (tenant_id) where status = 'captured' AND note", want{diag.IntentColumns, "needs a boolean, but note is text", "IS NOT NULL", "note"}},
		{"condition with a parenthesis too many", "", "-- @intent payments (tenant_id) where (note IS NULL) OR (true", want{diag.AnnotationForm, "never closed", "", "(true"}},
		{"condition that changes", "", "-- @intent payments (tenant_id) where created_at > now()", want{diag.AnnotationForm, "now(…) gives another value each time", "one condition", "now()"}},
		{"condition with a comment", "", "-- @intent payments (tenant_id) where note IS NULL -- open", want{diag.AnnotationForm, "it has a comment", "one condition", "-- open"}},
		{"condition with a second statement", "", "-- @intent payments (tenant_id) where true; DROP TABLE payments", want{diag.AnnotationForm, "it has a semicolon", "one condition", "; DROP"}},
		{"condition with a query", "", "-- @intent payments (tenant_id) where amount > (SELECT 1)", want{diag.AnnotationForm, "it has a query in it", "one condition", "(SELECT"}},
		{"partition key", "CREATE TABLE parts (tenant_id text NOT NULL, order_id text NOT NULL, month int NOT NULL) PARTITION BY LIST (month);",
			"-- @intent parts (tenant_id, order_id)", want{diag.IntentColumns, "parts is partitioned by month, which every unique index of it must include", "add month to the columns", "parts"}},
		{"partition by expression", "CREATE TABLE parts (tenant_id text NOT NULL, order_id text NOT NULL) PARTITION BY LIST (lower(order_id));",
			"-- @intent parts (tenant_id, order_id)", want{diag.IntentColumns, "parts is partitioned by an expression", "a table of its own", "parts"}},
		{"null", "", "-- @intent payments (tenant_id, note)", want{diag.IntentColumns, "payments.note may be null", "SET NOT NULL", "payments"}},
		{"null by name", "CREATE UNIQUE INDEX u ON payments (note);", "-- @intent u", want{diag.IntentColumns, "payments.note may be null", "SET NOT NULL", "u"}},
		{"unknown name", "", "-- @intent payments_ky", want{diag.CatalogUnknown, "no migration makes a unique constraint", "did you mean payments_pkey?", "payments_ky"}},
		{"deferrable by name", "ALTER TABLE payments ADD CONSTRAINT u UNIQUE (order_id) DEFERRABLE;", "-- @intent u",
			want{diag.IntentColumns, "u is deferrable", "@intent payments", "u"}},
		{"expression", "CREATE UNIQUE INDEX u ON payments (lower(order_id));", "-- @intent u",
			want{diag.IntentColumns, "u is an index on expressions", "generated column", "u"}},
		{"view", "CREATE VIEW v AS SELECT order_id FROM payments;", "-- @intent v (order_id)", want{diag.IntentColumns, "v is a view", "table behind it", "v"}},
		{"another table", "", "-- @intent lines (payment_id, sku)", want{diag.IntentColumns, "does not insert into or update lines", "makes the row", "lines"}},
		{"return without scope", "", "-- @intent payments (order_id) return", want{diag.IntentReturn, "would show a row of another scope", "conflict", "payments"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			service{migrations: payments + c.ddl, queries: words(createPayment, c.word)}.refuses(t, c.want)
		})
	}
	service{queries: words("-- name: Op :exec\n-- @http DELETE /x/{order_id}\nDELETE FROM payments WHERE order_id = @order_id;\n", intentWord)}.
		refuses(t, want{diag.IntentColumns, "Op does not insert into or update payments", "", "payments"})
}

func TestIntentReturn(t *testing.T) {
	op := service{queries: words(createPayment, intentWord+" return")}.operation(t)
	if op.Steps[0].OnIntent != "return" {
		t.Errorf("got %+v", op.Steps[0])
	}
	exec := "-- name: Op :exec\n-- @http POST /x\nINSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, @order_id, 1, 'EUR');\n"
	service{queries: words(exec, intentWord+" return")}.refuses(t, want{diag.IntentReturn, "is not this operation's response", ":one", "payments"})
	computed := "-- name: Op :one\n-- @http POST /x\nINSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, lower(@order_id::text), 1, 'EUR') RETURNING id;\n"
	service{queries: words(computed, intentWord+" return")}.refuses(t, want{diag.IntentReturn, "`return` has to look the row up", "@name", "payments"})
	shown := service{queries: words(computed, intentWord)}.operation(t).Steps[0].Intent
	if shown.ScopeIn {
		t.Error("a row that can't be looked up can't be shown")
	}
	other := service{queries: words(createPayment, "-- @intent payments (order_id)")}.operation(t).Steps[0].Intent
	if other.ScopeIn {
		t.Error("a row of another scope must not be shown")
	}
}

func TestIndexName(t *testing.T) {
	table := &schema.Table{Name: model.TableName{Schema: "public", Name: "payments"}}
	long := []string{strings.Repeat("a", 40), strings.Repeat("b", 40)}
	name := indexName(table, long, "")
	if len(name) > 63 || !strings.HasSuffix(name, "_intent") || name == indexName(table, []string{long[0], long[1] + "c"}, "") {
		t.Errorf("got %s", name)
	}
	if plain, partial := indexName(table, []string{"a"}, ""), indexName(table, []string{"a"}, "b IS NULL"); plain == partial {
		t.Errorf("both are named %s", plain)
	}
	table.Uniques = []*schema.Unique{{Name: "payments_a_intent", Where: "x"}}
	if got := indexName(table, []string{"a"}, ""); got == "payments_a_intent" {
		t.Error("the name is taken")
	}
}

func TestCondition(t *testing.T) {
	same := [][2]string{{"a <> 'B'", "A != 'B'"}, {"(a IS NULL)", "a is null"}, {"s = 'x'::status", "s='x'"}, {"((a = 1) AND (b = 2))", "(a = 1) AND (b = 2)"}}
	for _, c := range same {
		if condition(c[0]) != condition(c[1]) {
			t.Errorf("%q is %q, %q is %q", c[0], condition(c[0]), c[1], condition(c[1]))
		}
	}
	for _, c := range [][2]string{{"a = 'b'", "a = 'B'"}, {"a", "b"}, {"(a) AND (b)", "a) AND (b"}, {`"A" = 1`, `"a" = 1`}} {
		if condition(c[0]) == condition(c[1]) {
			t.Errorf("%q and %q are not the same", c[0], c[1])
		}
	}
}

func TestIntentsWithoutSqlc(t *testing.T) {
	s := service{
		queries: words(createPayment, intentWord) +
			"\n-- name: Unused :exec\n-- @intent lines (payment_id, sku)\nINSERT INTO lines (payment_id, sku, qty) VALUES (1, 'a', 1);\n" +
			"\n-- name: Step :exec\n-- @intent payments (order_id)\nINSERT INTO payments (order_id) VALUES ('a');\n",
		specs: "endpoints:\n  Op:\n    http: POST /op\n    steps:\n      - query: Step\n      - query: Step\n        as: Again\n        intent: payments (order_id, tenant_id)\n",
	}
	var diags diag.List
	in := s.input(t, &diags)
	got := Intents(in.Config, in.Catalog, in.Decls, in.Endpoints, &diags)
	var names []string
	for _, i := range got {
		names = append(names, i.Index)
	}
	want := []string{"payments_order_id_intent", "payments_order_id_tenant_id_intent"}
	if err := diags.Err(); err != nil || !slices.Equal(names, want) {
		t.Errorf("got %v %v, want %v", names, err, want)
	}
}

package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// set is an operation that stores one value as it is.
func set(column string, lines ...string) service {
	return service{queries: words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET "+column+" = @"+column+";\n", lines...)}
}

// ruled is a table whose columns have rules of most kinds.
const ruled = `CREATE TABLE ruled (
    grade  integer NOT NULL CONSTRAINT grade_list CHECK (grade IN (1, 2, 3)),
    price  numeric(6,2) NOT NULL CONSTRAINT price_range CHECK (price >= 0 AND price < 1000),
    total  numeric(4,1) NOT NULL,
    weight double precision NOT NULL,
    code   text NOT NULL CONSTRAINT code_form CHECK (code ~ '^[A-Z]+$' AND length(code) BETWEEN 2 AND 4 AND code <> 'ZZ'),
    sent   timestamptz NOT NULL,
    born   date NOT NULL,
    id     uuid NOT NULL,
    raw    bytea NOT NULL,
    doc    jsonb NOT NULL
);
`

func rule(column string, lines ...string) service {
	return service{migrations: ruled,
		queries: words("-- name: Op :exec\n-- @http POST /x\nUPDATE ruled SET "+column+" = @"+column+";\n", lines...)}
}

func TestLimitsThatNoValueMeets(t *testing.T) {
	for name, c := range map[string]struct {
		s    service
		want want
	}{
		"min above max":   {set("amount", "-- @bind amount body.amount min=10 max=9"), want{diag.BindType, "it must be at least 10, and it must be at most 9", "correct one", "9"}},
		"by one day":      {rule("born", "-- @bind born body.born max=2024-02-28 min=2024-02-29"), want{diag.BindType, "it must be at least 2024-02-29", "correct one", "2024-02-28"}},
		"time zones":      {rule("sent", "-- @bind sent body.sent min=2024-01-01T01:00:00Z max=2024-01-01T01:30:00+01:00"), want{diag.BindType, "at most 2024-01-01T00:30:00.000000Z", "", "2024-01-01T01:30"}},
		"fraction":        {rule("price", "-- @bind price body.price min=0.1 max=0.09"), want{diag.BindType, "at least 0.1", "", "0.09"}},
		"below the CHECK": {set("amount", "-- @bind amount body.amount max=0"), want{diag.BindType, "it must be greater than 0 (payments_amount_check), and it must be at most 0", "correct one", "0"}},
		"at the open end": {rule("price", "-- @bind price body.price min=999.995"), want{diag.BindType, "less than 1000 (price_range)", "", "999.995"}},
		"rounded":         {rule("price", "-- @bind price body.price max=-0.006"), want{diag.BindType, "it must be at least 0 (price_range), and it must be at most -0.006", "", "-0.006"}},
		"open ends": {service{migrations: "CREATE TABLE t (n double precision NOT NULL CHECK (n > 4));",
			queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind n body.n max=4\nUPDATE t SET n = @n;\n"}, want{diag.BindType, "it must be greater than 4", "", "4"}},
		"between whole numbers": {service{migrations: "CREATE TABLE t (n integer NOT NULL CHECK (n > 4));",
			queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind n query.n max=4\nUPDATE t SET n = @n;\n"}, want{diag.BindType, "no value of query.n can be right", "", "4"}},
		"beside the list": {rule("grade", "-- @bind grade body.grade min=4"), want{diag.BindType, "it must be one of 1, 2, 3 (grade_list), and it must be at least 4", "", "4"}},
		"two binds of one member": {service{migrations: ruled, queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind price body.v min=5\n-- @bind more body.v max=4\n" +
			"UPDATE ruled SET price = @price, weight = @more::numeric;\n"}, want{diag.BindType, "no value of body.v can be right", "", "5"}},
		"of an element": {endpoint("    steps:\n      - query: InsertLine\n        each: body.list\n" +
			"        bind: {payment_id: body.p, sku: item.s, label: item.l, qty: {source: item.q, min: 101}}\n"),
			want{diag.BindType, "no value of item.q can be right: it must be at least 101, and it must be at most 100 (lines_qty_check)", "", "101"}},
		"long form": {endpoint("    steps:\n      - query: Touch\n        bind: {id: {source: body.id, min: 3, max: 2}}\n"),
			want{diag.BindType, "no value of body.id can be right", "", "2"}},
		"of another type": {rule("grade", "-- @bind grade body.grade min=1.5"), want{diag.BindType, `"1.5" does not fit @grade`, "type", "1.5"}},
		"out of range":    {rule("grade", "-- @bind grade body.grade max=3000000000"), want{diag.BindType, "it is out of range", "type", "3000000000"}},
		"absurd":          {rule("weight", "-- @bind weight body.weight max=1e999"), want{diag.BindType, "it is out of range", "type", "1e999"}},
		"of a uuid":       {rule("id", "-- @bind id body.id min=0"), want{diag.BindType, "min= and max= are for numbers", "", "0"}},
	} {
		t.Run(name, func(t *testing.T) { c.s.refuses(t, c.want) })
	}
	for _, s := range []service{
		set("amount", "-- @bind amount body.amount min=9 max=9"),
		set("amount", "-- @bind amount body.amount min=0"), // the CHECK is narrower: no harm
		rule("grade", "-- @bind grade body.grade min=3"), rule("price", "-- @bind price body.price max=-0.004"), rule("price", "-- @bind price body.price min=999.994"),
		rule("born", "-- @bind born body.born min=2024-02-28 max=2024-02-28"),
	} {
		s.ok(t)
	}
}

func TestDefaultsThatARequestCouldNotSend(t *testing.T) {
	for name, c := range map[string]struct {
		s    service
		want want
	}{
		"CHECK":      {set("amount", "-- @bind amount body.amount default=0"), want{diag.BindType, `the default "0" does not fit @amount, which is bigint: it must be greater than 0 (payments_amount_check)`, "could send", "0"}},
		"enum":       {set("status", "-- @bind status body.status default=paid"), want{diag.BindType, "it must be one of authorized, captured", "", "paid"}},
		"length":     {set("currency", "-- @bind currency body.currency default=EURO"), want{diag.BindType, "it is longer than 3 characters", "", "EURO"}},
		"min":        {set("amount", "-- @bind amount body.amount min=5 default=4"), want{diag.BindType, "it must be at least 5", "", "4"}},
		"max":        {set("amount", "-- @bind amount query.amount max=5 default=6"), want{diag.BindType, "it must be at most 5", "", "6"}},
		"list":       {rule("grade", "-- @bind grade body.grade default=4"), want{diag.BindType, "it must be one of 1, 2, 3 (grade_list)", "", "4"}},
		"pattern":    {rule("code", "-- @bind code header.X-Code default=ab"), want{diag.BindType, "it must match ^[A-Z]+$ (code_form)", "", "ab"}},
		"least":      {rule("code", "-- @bind code body.code default=A"), want{diag.BindType, "it must have at least 2 characters (code_form)", "", "A"}},
		"most":       {rule("code", "-- @bind code body.code default=ABCDE"), want{diag.BindType, "it must have at most 4 characters (code_form)", "", "ABCDE"}},
		"not equal":  {rule("code", "-- @bind code body.code default=ZZ"), want{diag.BindType, `it must not be "ZZ" (code_form)`, "", "ZZ"}},
		"exclusive":  {rule("price", "-- @bind price body.price default=1000"), want{diag.BindType, "it must be less than 1000", "", "1000"}},
		"rounded":    {rule("price", "-- @bind price body.price default=999.995"), want{diag.BindType, "it must be less than 1000", "", "999.995"}},
		"precision":  {rule("price", "-- @bind price body.price default=12345"), want{diag.BindType, "it has more than 4 digits before the point", "", "12345"}},
		"absurd":     {rule("total", "-- @bind total body.total default=1e999"), want{diag.BindType, "it is out of range", "", "1e999"}},
		"rounded up": {rule("total", "-- @bind total body.total default=999.95"), want{diag.BindType, "it has more than 3 digits before the point", "", "999.95"}},
		"a document": {rule("doc", `-- @bind doc body.doc default={"a":1,"a":2}`), want{diag.BindType, "its member a stands twice", "", "{"}},
		"too large":  {rule("weight", "-- @bind weight body.weight default=1e309"), want{diag.BindType, "it is out of range", "", "1e309"}},
		"two": {service{migrations: ruled, queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind price body.v default=1\n-- @bind more body.v default=2\n" +
			"UPDATE ruled SET price = @price, weight = @more::numeric;\n"}, want{diag.BindType, `body.v has the default "2" here and "1" elsewhere`, "one default", "2"}},
		"another use": {service{migrations: "CREATE TABLE t (a text NOT NULL, b varchar(2) NOT NULL);",
			queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind a body.v default=abc\n-- @bind b body.v\nUPDATE t SET a = @a, b = @b;\n"},
			want{diag.BindType, `the default "abc" of body.v is longer than 2 characters`, "every request without the member", "abc"}},
	} {
		t.Run(name, func(t *testing.T) { c.s.refuses(t, c.want) })
	}
	for _, s := range []service{
		rule("price", "-- @bind price body.price default=999.994"), rule("code", "-- @bind code body.code default=AB"),
		rule("grade", "-- @bind grade body.grade default=+3"), rule("total", "-- @bind total body.total default=999.94"),
		set("amount", "-- @bind amount body.amount min=5 max=5 default=5"), set("currency", "-- @bind currency body.currency default=EUR"),
		rule("sent", "-- @bind sent body.sent default=2024-01-01T00:00:00.5Z"), set("note", `-- @bind note body.note default=""`),
	} {
		s.ok(t)
	}
}

// A constant obeys the column that it is stored in: else every request fails.
func TestLiteralsThatTheColumnRefuses(t *testing.T) {
	set("amount", "-- @bind amount '0'").refuses(t, want{diag.BindType, "'0' does not fit @amount, which is bigint: it must be greater than 0", "column takes", "'0'"})
	set("currency", "-- @bind currency 'EURO'").refuses(t, want{diag.BindType, "it is longer than 3 characters", "", "'EURO'"})
	rule("grade", "-- @bind grade '4'").refuses(t, want{diag.BindType, "it must be one of 1, 2, 3", "", "'4'"})
	rule("grade", "-- @bind grade '2'").ok(t)
	service{queries: words(placeOrder, "-- @bind items '[]'")}.ok(t)
}

func TestExamplesThatTheRequestRefuses(t *testing.T) {
	for _, c := range []struct{ column, value, wrong string }{
		{"grade", `4`, "/grade must be one of 1, 2, 3 (grade_list)"}, {"grade", `"2"`, "/grade must be a number"}, {"grade", `2.5`, "/grade is not a whole number"},
		{"grade", `2.0`, ""}, {"grade", `1e0`, ""}, {"grade", `3000000000`, "/grade is out of range"}, {"grade", `1e9999999`, "/grade is not a whole number"},
		{"price", `-1`, "/price must be at least 0 (price_range)"}, {"price", `"1000"`, "/price must be less than 1000"}, {"price", `"12,5"`, "/price is not a number"},
		{"price", `"NaN"`, "/price is not a number"}, {"price", `"12.50"`, ""}, {"price", `12.5`, ""},
		{"weight", `"NaN"`, ""}, {"weight", `"1"`, "/weight must be a number"}, {"weight", `1e400`, "/weight is out of range"}, {"weight", `1e-3`, ""},
		{"code", `"a"`, "/code must match"}, {"code", `"A"`, "/code must have at least 2 characters"}, {"code", `"ABCDE"`, "/code must have at most 4"},
		{"code", `"ZZ"`, `/code must not be "ZZ"`}, {"code", `"AB"`, ""}, {"code", `7`, "/code must be a string"},
		{"sent", `"yesterday"`, "/sent is not an RFC 3339 time"}, {"sent", `"2024-01-01T00:00:00Z"`, ""}, {"sent", `"2024-01-01T00:00:00.123456+02:00"`, ""},
		{"born", `"2023-02-29"`, "/born does not look like"}, {"born", `"2024-02-29"`, ""},
		{"id", `"17"`, "/id is not a uuid"}, {"id", `"{0190A0B0-0000-7000-8000-00000000000F}"`, ""},
		{"raw", `"?"`, "/raw is not base64"}, {"raw", `"AAE"`, ""}, {"raw", `"AAE="`, ""},
		{"doc", `[1, {"a": null}]`, ""}, {"doc", `null`, "/doc can't be null"},
	} {
		s := rule(c.column, `-- @example {"`+c.column+`": `+c.value+`}`)
		if c.wrong == "" {
			s.ok(t)
			continue
		}
		s.refuses(t, want{diag.ExampleForm, "the example is refused: " + c.wrong, "valid request", "{"})
	}
	set("currency", `-- @example {"currency": "EURO"}`).refuses(t, want{diag.ExampleForm, "/currency is longer than 3 characters", "", "{"})
	set("status", `-- @example {"status": "paid"}`).refuses(t, want{diag.ExampleForm, "/status must be one of authorized, captured", "", "{"})
	set("amount", "-- @bind amount body.amount min=5", `-- @example {"amount": 4}`).refuses(t, want{diag.ExampleForm, "/amount must be at least 5", "", "{"})
	lines := func(json string) service { return service{queries: words(placeOrder, "-- @example "+json)} }
	lines(`{"items": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 101}]}`).
		refuses(t, want{diag.ExampleForm, "/items/1/qty must be at most 100 (lines_qty_check)", "", "{"})
	nested := words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note;\n", "-- @bind note body.texts.note", `-- @example {"texts": null}`)
	service{queries: nested}.ok(t) // null in place of an object: its members are absent
}

func TestExamplesOfAWholeBody(t *testing.T) {
	whole := func(example string) service {
		return service{queries: words(placeOrder, "-- @bind items body", "-- @example "+example)}
	}
	whole(`[{"sku": "a", "qty": 1}]`).ok(t)
	whole(`[{"sku": "a"}]`).refuses(t, want{diag.ExampleForm, "/0/qty is missing", "valid request", "["})
	whole(`{"sku": "a"}`).refuses(t, want{diag.ExampleForm, "it must be a list", "valid request", "{"})
	rule("doc", "-- @bind doc body", "-- @example 17").ok(t)
	rule("raw", "-- @bind raw body", "-- @example 17").ok(t) // bytea: the body as it is
}

// A key is an input that something takes, or a header: a member that is spelled
// wrong would be demanded of every client.
func TestKeysThatNothingTakes(t *testing.T) {
	service{queries: words(createPayment, "-- @key body.ordre_id")}.
		refuses(t, want{diag.KeyRule, "the key is body.ordre_id, which is not an input of CreatePayment", "did you mean order_id?", "body.ordre_id"})
	service{queries: words(createPayment, "-- @key query.order_id")}.
		refuses(t, want{diag.KeyRule, "the key is query.order_id", "there is no other input of that kind", "query.order_id"})
	service{queries: words(createPayment, "-- @key path.order_id")}.mentions(t, diag.BindUnknown, "has no parameter {order_id}")
	service{queries: words(createPayment, "-- @bind order_id query.order", "-- @key query.order")}.ok(t)
	s := service{queries: createPayment, config: func(c *config.Config) {
		source := spec.Source{Kind: spec.SourceBody, Path: []string{"ref"}, Pos: diag.Pos{File: "idemgen.yaml", Line: 9, Col: 3}}
		c.DefaultKeys = map[string]spec.Key{"POST": {From: "source", Source: source, Pos: source.Pos}}
	}}
	s.refuses(t, want{diag.KeyRule, "the key is body.ref, which is not an input of CreatePayment", "", ""})
}

func TestBindsThatNoStepTakes(t *testing.T) {
	endpoint("    bind: {order_di: body.x}\n"+orderSteps).
		refuses(t, want{diag.BindUnknown, "no step of PlaceOrder has a parameter @order_di", "did you mean order_id?", "order_di"})
	endpoint("    bind: {order_id: body.order_ref}\n" + orderSteps).ok(t)
}

func TestListsOfWhichNothingIsUsed(t *testing.T) {
	endpoint("    steps:\n      - query: InsertLine\n        each: body.lines\n        bind: {payment_id: body.payment_id}\n").
		refuses(t, want{diag.StepOrder, "InsertLine runs once per element of body.lines, but nothing in it comes from the element", "item.NAME", "body.lines"})
}

func TestRulesThatSayNothing(t *testing.T) {
	service{queries: words(capture, "-- @status high 200")}.
		refuses(t, want{diag.ProblemForm, "@status high 200 changes nothing: 200 is the success status of Capture", "remove it", "high"})
	service{queries: words(capture, "-- @status high 202", "-- @status low 202")}.
		refuses(t, want{diag.ProblemForm, "@status 202 stands twice on Capture", "(high OR low) AS name", "low"})
	service{queries: words(capture, "-- @require high 402", "-- @status high 202")}.
		refuses(t, want{diag.ProblemForm, "@status high is always true where it is asked", "remove one of the two", "high"})
	service{queries: words(capture, "-- @status high 200", "-- @status low 202")}.ok(t) // keeps 202 away from high ones
	spec := "endpoints:\n  Op:\n    http: POST /x 202\n    steps:\n      - query: Capture\n        status: high 202\n"
	service{queries: capture, specs: spec}.refuses(t, want{diag.ProblemForm, "202 is the success status of Op", "remove it", "high"})
	service{queries: words(capture, "-- @require enough 402", "-- @omit enough")}.
		refuses(t, want{diag.RepeatedWord, "@omit enough has no effect: @require hides it", "remove", "enough"})
	service{queries: words(capture, "-- @status high 202", "-- @omit high")}.
		refuses(t, want{diag.RepeatedWord, "@omit high has no effect: @status hides it", "remove", "high"})
	embed := "-- name: Op :one\n-- @http GET /x\n-- @omit payments, payments.note\nSELECT (id > 1) AS found, sqlc.embed(payments) FROM payments LIMIT 1;\n"
	service{queries: embed}.refuses(t, want{diag.RepeatedWord, "@omit payments hides all of it", "remove", "payments.note"})
}

// Servers newer than the table may raise what is not in it: that is a warning, and
// the rule holds.
func TestSQLStatesThatNobodyKnowsAreWarnings(t *testing.T) {
	for code, w := range map[string]want{
		"23O05": {diag.ConstraintUnused, "idemgen knows no SQLSTATE 23O05 in PostgreSQL's class 23", "did you mean 23505?", "23O05"},
		"22z99": {diag.ConstraintUnused, "idemgen knows no SQLSTATE 22Z99", "appendix A", "22z99"},
	} {
		s := service{queries: words(createPayment, "-- @error "+code+" 409")}
		s.refuses(t, w)
		svc, diags := s.check(t)
		if diags[0].Severity != diag.Warning {
			t.Errorf("%s is refused", code)
			continue
		}
		rules := svc.Operations[0].Steps[0].Errors
		if !slices.ContainsFunc(rules, func(r model.ErrorRule) bool { return r.SQLState == strings.ToUpper(code) }) {
			t.Errorf("%s is dropped: %+v", code, rules)
		}
	}
}

func TestSQLStatesThatNothingRaises(t *testing.T) {
	refuse := func(code string, w want) {
		service{queries: words(createPayment, "-- @error "+code+" 409")}.refuses(t, w)
	}
	refuse("00000", want{diag.ConstraintUnused, "SQLSTATE 00000 is no error", "@empty", "00000"})
	refuse("02000", want{diag.ConstraintUnused, "SQLSTATE 02000 is no error", "@empty", "02000"})
	for _, code := range []string{"23505", "22P02", "42501", "58P03", "P0001", "P0404", "PT402", "45000"} {
		if _, diags := (service{queries: words(createPayment, "-- @error "+code+" 409")}).check(t); len(diags) > 0 {
			t.Errorf("%s: %v", code, diags)
		}
	}
	raising := payments + "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;\n" +
		"CREATE TRIGGER t AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION f();"
	service{migrations: raising, queries: words(createPayment, "-- @error 22Z99 409")}.ok(t)
}

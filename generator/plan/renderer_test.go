package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// odd is every setting that changes PostgreSQL's own text of a value.
var odd = []string{
	"SET timezone = 'Asia/Kathmandu'", "SET datestyle = 'SQL, DMY'", "SET intervalstyle = 'sql_standard'",
	"SET bytea_output = 'escape'", "SET extra_float_digits = -15",
}

// rendered lists, per type, expressions and their JSON.
var rendered = []struct{ typ, expr, want string }{
	{"bool", "true", "true"},
	{"smallint", "-7::smallint", "-7"},
	{"integer", "0", "0"},
	{"bigint", "9007199254740993", "9007199254740993"},
	{"numeric", "12.50::numeric(12,2)", `"12.50"`},
	{"numeric", "'NaN'::numeric", `"NaN"`},
	{"numeric", "1e30::numeric", `"1000000000000000000000000000000"`},
	{"float8", "0.1::float8 + 0.2::float8", "0.30000000000000004"},
	{"float8", "1e300::float8", "1e+300"},
	{"float8", "'-Infinity'::float8", `"-Infinity"`},
	{"real", "0.1::real", "0.1"},
	{"real", "'NaN'::real", `"NaN"`},
	{"text", `'a"\u2028<é'::text`, `"a\"\\u2028<é"`},
	{"text", `E'\n\x01'`, `"\n\u0001"`},
	{"varchar", "'x '::varchar(5)", `"x "`},
	{"char(5)", "'x'::char(5)", `"x"`},
	{"mood", "'it''s'::mood", `"it's"`},
	{"uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
	{"timestamptz", "'2024-02-29 23:00:00.5-05'::timestamptz", `"2024-03-01T04:00:00.500000Z"`},
	{"timestamptz", "'infinity'::timestamptz", `"infinity"`},
	{"timestamptz", "'-infinity'::timestamptz", `"-infinity"`},
	{"timestamptz", "'0044-03-15 12:00:00+00 BC'::timestamptz", `"0044-03-15T12:00:00.000000Z BC"`},
	{"timestamptz", "'12024-01-01 00:00:00+00'::timestamptz", `"12024-01-01T00:00:00.000000Z"`},
	{"timestamp", "'2024-02-29 23:00:00.5'::timestamp", `"2024-02-29T23:00:00.5"`},
	{"timestamp", "'infinity'::timestamp", `"infinity"`},
	{"date", "'2024-02-29'::date", `"2024-02-29"`},
	{"date", "'-infinity'::date", `"-infinity"`},
	{"date", "'0044-03-15 BC'::date", `"0044-03-15 BC"`},
	{"time", "'23:59:59.25'::time", `"23:59:59.25"`},
	{"interval", "'1 year 2 mons -3 days 04:05:06.7'::interval", `"P1Y2M-3DT4H5M6.7S"`},
	{"interval", "'0'::interval", `"PT0S"`},
	{"bytea", "decode(repeat('00ff', 60), 'hex')", `"` + strings.Repeat("AP8A/wD/", 20) + `"`},
	{"bytea", "''::bytea", `""`},
	{"json", `'{"b": 1,  "a": [1.0]}'::json`, `{"b": 1,  "a": [1.0]}`},
	{"jsonb", `'{"b": 1, "a": null}'::jsonb`, `{"a": null, "b": 1}`},
	{"jsonb", `'null'::jsonb`, `null`},
	{"bool[]", "ARRAY[true, NULL]", "[true,null]"},
	{"bigint[]", "'{}'::bigint[]", "[]"},
	{"bigint[]", "'[5:6]={1,NULL}'::bigint[]", "[1,null]"},
	{"numeric[]", "ARRAY[1.50, NULL, 'NaN']::numeric[]", `["1.50",null,"NaN"]`},
	{"float8[]", "ARRAY[0.1::float8 + 0.2::float8, NULL, 'Infinity']", `[0.30000000000000004,null,"Infinity"]`},
	{"text[]", `ARRAY['a,b', NULL, '"', '']`, `["a,b",null,"\"",""]`},
	{"char(3)[]", "ARRAY['x', NULL]::char(3)[]", `["x",null]`},
	{"mood[]", "ARRAY['ok']::mood[]", `["ok"]`},
	{"uuid[]", "ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']::uuid[]", `["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]`},
	{"timestamptz[]", "ARRAY['2024-02-29 23:00:00-05', NULL, 'infinity']::timestamptz[]", `["2024-03-01T04:00:00.000000Z",null,"infinity"]`},
	{"date[]", "ARRAY['2024-02-29', NULL]::date[]", `["2024-02-29",null]`},
	{"timestamp[]", "ARRAY['2024-02-29 01:00']::timestamp[]", `["2024-02-29T01:00:00"]`},
	{"interval[]", "ARRAY['1 day', NULL]::interval[]", `["P1D",null]`},
	{"bytea[]", `ARRAY['\x00ff'::bytea, NULL]`, `["AP8=",null]`},
	{"jsonb[]", `ARRAY['{"a": 1}'::jsonb, NULL]`, `[{"a": 1},null]`},
}

// TestPitfall_30_OneFormPerType: the JSON of a value depends on the value only.
func TestPitfall_30_OneFormPerType(t *testing.T) {
	url := idemtest.URL(t, tables)
	for name, settings := range map[string][]string{"default settings": nil, "odd settings": odd} {
		t.Run(name, func(t *testing.T) {
			// The values are made on a connection without odd settings.
			s := serve(t, url)
			for i, tt := range rendered {
				s.exec(fmt.Sprintf("CREATE TABLE v%d AS SELECT %s AS v", i, tt.expr))
			}
			defer s.exec("DO 'BEGIN FOR i IN 0..99 LOOP EXECUTE ''DROP TABLE IF EXISTS v'' || i; END LOOP; END'")
			s = serve(t, url, settings...)
			for i, tt := range rendered {
				ty := typ(t, tt.typ)
				body := s.text("SELECT " + renderer{}.rowText(tree([]slot{{name: "v", full: "v", path: []string{"v"}, typ: ty}}), "d") + fmt.Sprintf(" FROM v%d d", i))
				if want := `{"v":` + tt.want + `}`; body != want {
					t.Errorf("%s %s:\n got %s\nwant %s", tt.typ, tt.expr, body, want)
				}
				s.valid(body)
				alone := s.text("SELECT " + renderer{}.columnText([]slot{{name: "v", full: "v", path: []string{"v"}, typ: ty}}, "v", "d") + fmt.Sprintf(" FROM v%d d", i))
				s.equal(alone, tt.want)
			}
		})
	}
}

func TestNullsAreNull(t *testing.T) {
	s := fresh(t, tables)
	for _, tt := range rendered {
		column := []slot{{name: "v", full: "v", path: []string{"v"}, typ: typ(t, tt.typ)}}
		from := " FROM (SELECT CASE WHEN false THEN " + tt.expr + " END AS v) d"
		s.equal(s.text("SELECT "+renderer{}.rowText(tree(column), "d")+from), `{"v":null}`)
		s.equal(s.text("SELECT "+renderer{}.columnText(column, "v", "d")+from), "null")
	}
}

// TestBoundTextsReadBackAsTheSameValue: what a step hands to the next one.
func TestBoundTextsReadBackAsTheSameValue(t *testing.T) {
	s := fresh(t, tables)
	for _, sql := range odd {
		s.exec(sql)
	}
	for _, tt := range rendered {
		ty := typ(t, tt.typ)
		name := strings.Replace(tt.typ, "float8", "double precision", 1)
		name = strings.Replace(name, "char(5)", "bpchar", 1)
		expr := strings.NewReplacer("'0044-03-15 BC'::date", "make_date(-44, 3, 15)").Replace(tt.expr)
		if strings.Contains(tt.typ, "json") {
			continue // text as it is
		}
		again := "(SELECT " + renderer{}.bind("d.v", ty) + " FROM (SELECT " + expr + " AS v OFFSET 0) d)::" + name
		if got := s.text("SELECT " + again + " IS NOT DISTINCT FROM (" + expr + ")"); got != "t" {
			t.Errorf("%s %s comes back as %s", tt.typ, tt.expr, s.text("SELECT "+again))
		}
	}
}

func TestBigintsAsStrings(t *testing.T) {
	s := fresh(t)
	columns := []slot{
		{name: "a", full: "a", path: []string{"a"}, typ: typ(t, "bigint")},
		{name: "b", full: "b", path: []string{"b"}, typ: typ(t, "bigint[]")},
		{name: "c", full: "c", path: []string{"c"}, typ: typ(t, "integer")},
	}
	s.equal(s.text("SELECT "+renderer{bigintString: true}.rowText(tree(columns), "d")+" FROM (SELECT 1::bigint AS a, ARRAY[2, NULL]::bigint[] AS b, 3 AS c) d"),
		`{"a":"1","b":["2",null],"c":3}`)
}

// json_build_object stops at 50 columns.
func TestPitfall_15_WideRows(t *testing.T) {
	s := fresh(t)
	var list, names []string
	for i := range 120 {
		list = append(list, fmt.Sprintf("%d AS c%d", i, i))
		names = append(names, fmt.Sprintf("c%d integer", i))
	}
	op := planned(t, operation(t, "Wide", read, step{name: "Wide", command: "one", sql: "SELECT " + strings.Join(list, ", "), returns: strings.Join(names, ", ")}))
	rows, err := s.send(op.section(t, "unkeyed"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if body := rows[0][3]; !strings.HasPrefix(body, `{"c0":0,`) || !strings.HasSuffix(body, `"c119":119}`) {
		t.Error(body)
	}
}

func TestNestedMembersAndEmbeds(t *testing.T) {
	s := fresh(t, tables, "INSERT INTO customers VALUES ('c', 't1', 'Ann')", "INSERT INTO payments (tenant_id, order_id, amount) VALUES ('t1', 'o', 5)")
	op := planned(t, operation(t, "GetNested", read, getNested()))
	rows, err := s.send(op.section(t, "unkeyed"), "", values{"tenant_id": "t1", "order_id": "o"})
	if err != nil {
		t.Fatal(err)
	}
	s.equal(strings.Join(rows[0][:4], " "), `f 200 <null> {"id":1,"order":{"id":"o","customer":{"name":"Ann"}},"customer":{"id":"c","name":"Ann"},"meta":null}`)
	rows, err = s.send(op.section(t, "unkeyed"), "", values{"tenant_id": "t1", "order_id": "none"})
	if err != nil {
		t.Fatal(err)
	}
	s.equal(rows[0][1]+rows[0][3], "404"+problemBody)
}

// Names that PostgreSQL reads as keywords, that hold quotes, or that are the
// generator's own short aliases.
func TestQuotedNames(t *testing.T) {
	s := fresh(t, tables)
	op := planned(t, operation(t, "Quoted", func(op *model.Operation) {
		op.Headers = []model.Header{{Name: "X-It's", Parts: []model.Part{{Text: `a'\`}, {Name: "o"}}}}
	}, quoted()))
	first := s.must(op, "k", values{"id": "x", "o": "inner", "d": "7"})
	s.equal(first.body, `{"Select":"x","it's \"q\"":"a'\\b","o":"inner","d":7}`)
	s.equal(first.headers, `{"X-It's": "a'\\inner"}`)
	s.equal(s.must(op, "k", nil).body, first.body)
}

// pitfall 19: our own texts mean the same whatever standard_conforming_strings is.
func TestPitfall_19_TextsInSQL(t *testing.T) {
	s := fresh(t, tables)
	s.exec("SET standard_conforming_strings = off")
	s.exec("SET escape_string_warning = off")
	op := planned(t, operation(t, "CreatePayment", func(op *model.Operation) {
		op.Name = `it's \ gone`
		op.Response = model.Response{Kind: model.ResponseObject, Members: []model.ResponseMember{
			{Name: `it's "\`, Value: model.Response{Kind: model.ResponseColumn, Step: "CreatePayment", Column: "id"}}}}
	}, createPayment()))
	s.equal(s.must(op, "k", paymentIn).body, `{"it's \"\\":1}`)
	s.equal(s.text("SELECT operation FROM idem.keys"), `shop.it's \ gone`)
}

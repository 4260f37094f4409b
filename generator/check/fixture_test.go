package check

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/sqlcrun"
)

// service is a service in miniature. Its query files and specs are read by the
// real parsers; only sqlc is played, by the small part of it that these
// queries need.
type service struct {
	migrations string
	queries    string
	more       string // a second query file, of package more
	specs      string
	config     func(*config.Config)
	ties       bool // report statements that know no caller; most cases are about something else
}

const payments = `
CREATE TYPE status AS ENUM ('authorized', 'captured');
CREATE TABLE payments (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    order_id   varchar(64) NOT NULL,
    amount     bigint NOT NULL CONSTRAINT payments_amount_check CHECK (amount > 0),
    currency   varchar(3) NOT NULL,
    status     status NOT NULL DEFAULT 'authorized',
    note       text,
    meta       jsonb,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE lines (
    payment_id bigint NOT NULL REFERENCES payments (id),
    sku        text NOT NULL,
    qty        integer NOT NULL CONSTRAINT lines_qty_check CHECK (qty BETWEEN 1 AND 100),
    label      text
);
`

const createPayment = `-- name: CreatePayment :one
-- Record a payment for an order. At most once.
-- @http POST /v1/payments
INSERT INTO payments (tenant_id, order_id, amount, currency)
VALUES (@tenant_id, @order_id, @amount, @currency)
RETURNING id, order_id, amount;
`

// words adds annotation lines to a query.
func words(query string, lines ...string) string {
	head, body, _ := strings.Cut(query, "\n")
	return head + "\n" + strings.Join(lines, "\n") + "\n" + body
}

func (s service) check(t *testing.T) (*model.Service, []diag.Diagnostic) {
	t.Helper()
	var diags diag.List
	in := s.input(t, &diags)
	svc := Check(in, &diags)
	return svc, slices.DeleteFunc(diags.Sorted(), func(d diag.Diagnostic) bool {
		return !s.ties && d.Code == diag.ScopeUnused
	})
}

func (s service) input(t *testing.T, diags *diag.List) Input {
	t.Helper()
	if s.migrations == "" {
		s.migrations = payments
	}
	tenant := spec.Source{Kind: spec.SourceCaller, Path: []string{"tenant_id"}, Pos: diag.Pos{File: "idemgen.yaml", Line: 1}}
	cfg := &config.Config{File: "idemgen.yaml", Service: "payments", Package: "api", Profile: "ietf", Scope: tenant,
		JSON: config.JSON{Case: "snake", Bigint: "number", Many: "items"}}
	if strings.Contains(s.queries+s.more, "@tenant_id") {
		cfg.Bind = []spec.Bind{{Param: spec.Name{Value: "tenant_id"}, Source: tenant}}
	}
	if s.config != nil {
		s.config(cfg)
	}
	in := Input{Config: cfg, Module: "example.com/payments"}
	in.Catalog = schema.Build([]schema.File{{Path: "db/migrations/1.sql", Text: s.migrations}}, diags)
	for _, file := range []struct{ name, pkg, text string }{{"queries/q.sql", "db", s.queries}, {"more/q.sql", "more", s.more}} {
		decls := spec.ParseQueryFile(file.name, file.text, diags)
		entry := &sqlcrun.Entry{QueryFiles: []string{file.name}, Package: model.GoPackage{Name: file.pkg, Import: "example.com/payments/" + file.pkg}}
		for _, d := range decls {
			in.Queries = append(in.Queries, playSqlc(t, in.Catalog, entry, d))
		}
		in.Decls = append(in.Decls, decls...)
	}
	if s.specs != "" {
		in.Endpoints = spec.ParseEndpoints("endpoints/e.yaml", []byte(s.specs), diags)
	}
	return in
}

// ok fails the test at any diagnostic.
func (s service) ok(t *testing.T) *model.Service {
	t.Helper()
	svc, diags := s.check(t)
	for _, d := range diags {
		t.Errorf("%s\n  hint: %s", d.Error(), d.Hint)
	}
	if t.Failed() {
		t.FailNow()
	}
	return svc
}

// operation checks a service of one operation.
func (s service) operation(t *testing.T) *model.Operation {
	t.Helper()
	svc := s.ok(t)
	if len(svc.Operations) != 1 {
		t.Fatalf("want one operation, got %d", len(svc.Operations))
	}
	return svc.Operations[0]
}

// want describes a diagnostic: its code, and texts in its message and hint.
type want struct {
	code    diag.Code
	message string
	hint    string
	at      string // the text at its position; "" for any
}

// refuses checks that exactly one diagnostic is reported, and that it is this one.
func (s service) refuses(t *testing.T, w want) {
	t.Helper()
	_, diags := s.check(t)
	if len(diags) != 1 {
		for _, d := range diags {
			t.Log(d.Error())
		}
		t.Fatalf("want one diagnostic, got %d", len(diags))
	}
	d := diags[0]
	if d.Code != w.code || !strings.Contains(d.Message, w.message) || !strings.Contains(d.Hint, w.hint) {
		t.Errorf("got %s\n  hint: %s\nwant [%s] %s\n  hint: %s", d.Error(), d.Hint, w.code, w.message, w.hint)
	}
	if d.Hint == "" {
		t.Error("the diagnostic has no way out")
	}
	if d.Pos.IsZero() {
		t.Error("the diagnostic has no place")
	}
	if w.at != "" && !strings.HasPrefix(s.textAt(d.Pos), w.at) {
		t.Errorf("it points at %q (%s), want %q", s.textAt(d.Pos), d.Pos, w.at)
	}
}

func (s service) textAt(p diag.Pos) string {
	text := map[string]string{"queries/q.sql": s.queries, "more/q.sql": s.more, "endpoints/e.yaml": s.specs}[p.File]
	lines := strings.Split(text, "\n")
	if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 {
		return ""
	}
	return lines[p.Line-1][p.Col-1:]
}

var (
	commentLine = regexp.MustCompile(`(?m)^--.*\n?`)
	paramForm   = regexp.MustCompile(`sqlc\.(n?)arg\('?(\w+)'?\)|@(\w+)|\$(\d+)`)
	castForm    = regexp.MustCompile(`::\s*([a-z0-9_]+(?:\[\])?)`)
	aliasForm   = regexp.MustCompile(`(?is)^(.*)\s+AS\s+"?([^"\s]+)"?$`)
)

// playSqlc says what sqlc would say of the query.
func playSqlc(t *testing.T, cat *schema.Catalog, entry *sqlcrun.Entry, d *spec.QueryDecl) *sqlcrun.Query {
	t.Helper()
	q := &sqlcrun.Query{Name: d.Name, Command: strings.TrimPrefix(d.Command, ":"), File: path.Base(d.File), Entry: entry}
	var names []string
	nullable := map[string]bool{}
	q.SQL = paramForm.ReplaceAllStringFunc(commentLine.ReplaceAllString(d.SQL.Text, ""), func(m string) string {
		parts := paramForm.FindStringSubmatch(m)
		name := parts[2] + parts[3]
		if parts[4] != "" {
			name = "column_" + parts[4]
		}
		nullable[name] = nullable[name] || parts[1] == "n"
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return fmt.Sprintf("$%d", slices.Index(names, name)+1)
	})
	var ignored diag.List
	shape := cat.Analyze(strings.TrimRight(strings.TrimSpace(q.SQL), ";"), d.Pos, &ignored)
	for i, name := range names {
		p := playParam(t, cat, shape, q.SQL, i+1)
		p.Name, p.NotNull = name, p.NotNull && !nullable[name]
		p.GoType = defaultGoType(typeOf(cat, p))
		q.Params = append(q.Params, p)
	}
	q.Columns = playColumns(cat, shape, q.SQL)
	return q
}

func typeOf(cat *schema.Catalog, c sqlcrun.Column) model.Type {
	t, _ := cat.Type(c.TypeName.String())
	t.Array, t.Nullable = c.Array, !c.NotNull
	return t
}

func playParam(t *testing.T, cat *schema.Catalog, shape model.Shape, sql string, n int) sqlcrun.Column {
	t.Helper()
	if m := regexp.MustCompile(fmt.Sprintf(`\$%d::([a-z0-9_]+)(\[\])?`, n)).FindStringSubmatch(sql); m != nil {
		return sqlcrun.Column{NotNull: true, Array: m[2] != "", TypeName: tableName(m[1])}
	}
	for _, f := range shape.Feeds {
		if f.Param == n {
			return playColumn(cat.Table(f.Table).Column(f.Column))
		}
	}
	return sqlcrun.Column{TypeName: tableName("text"), NotNull: true}
}

func playColumn(c *schema.Column) sqlcrun.Column {
	return sqlcrun.Column{Name: c.Name, NotNull: c.NotNull, Array: c.Type.Array, TypeName: tableName(strings.TrimSuffix(c.Type.Name, "[]"))}
}

func playColumns(cat *schema.Catalog, shape model.Shape, sql string) []sqlcrun.Column {
	list := ""
	table := shape.Target
	if i := strings.LastIndex(sql, "RETURNING "); i >= 0 {
		list = sql[i+len("RETURNING "):]
	} else if strings.HasPrefix(strings.TrimSpace(sql), "SELECT ") {
		list, _, _ = strings.Cut(strings.TrimSpace(sql)[len("SELECT "):], " FROM ")
		list, _, _ = strings.Cut(list, "\nFROM ")
		if len(shape.Reads) > 0 {
			table = shape.Reads[0]
		}
	}
	var out []sqlcrun.Column
	for _, item := range splitList(strings.TrimRight(strings.TrimSpace(list), ";")) {
		out = append(out, playItem(cat, table, item))
	}
	return out
}

func playItem(cat *schema.Catalog, table model.TableName, item string) sqlcrun.Column {
	name := ""
	if m := aliasForm.FindStringSubmatch(item); m != nil {
		item, name = m[1], m[2]
	}
	out := sqlcrun.Column{NotNull: true, TypeName: tableName("bool")}
	if embed, ok := strings.CutPrefix(item, "sqlc.embed("); ok {
		out.Embed = strings.TrimSuffix(embed, ")")
		out.Name = out.Embed
		return out
	}
	bare := item[strings.LastIndexByte(item, '.')+1:]
	if m := castForm.FindStringSubmatch(item); m != nil {
		out.TypeName, out.Array = tableName(strings.TrimSuffix(m[1], "[]")), strings.HasSuffix(m[1], "[]")
	} else if tab := cat.Table(table); tab != nil && tab.Column(bare) != nil {
		out, out.Name = playColumn(tab.Column(bare)), bare
	}
	if name != "" {
		out.Name = name
	}
	out.GoType = defaultGoType(typeOf(cat, out))
	return out
}

// splitList cuts at commas outside parentheses.
func splitList(list string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range list {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(list[start:]); last != "" {
		out = append(out, last)
	}
	return out
}

// inputNamed finds an input as its source is written: body.amount.
func inputNamed(t *testing.T, op *model.Operation, source string) *model.Input {
	t.Helper()
	var all []string
	for _, in := range op.Inputs {
		name := inputKey{in.From, in.Name}.String()
		if name == source {
			return in
		}
		all = append(all, name)
	}
	t.Fatalf("no input %s among %v", source, all)
	return nil
}

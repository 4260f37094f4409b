package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// update is an operation whose one parameter is @note, a nullable text.
func update(lines ...string) string {
	return words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note;\n", lines...)
}

func TestWhereAParameterComesFrom(t *testing.T) {
	get := "-- name: Op :many\n-- @http GET /x/{id}\nSELECT id FROM payments WHERE id = @id AND note = sqlc.narg('note');\n"
	op := service{queries: get}.operation(t)
	inputNamed(t, op, "path.id")
	if in := inputNamed(t, op, "query.note"); in.Required || in.Nullable {
		t.Errorf("a nullable query parameter is optional: %+v", in)
	}
	del := service{queries: "-- name: Op :exec\n-- @http DELETE /x\nDELETE FROM payments WHERE id = @id;\n"}.operation(t)
	if in := inputNamed(t, del, "query.id"); !in.Required {
		t.Errorf("got %+v", in)
	}
	op = service{queries: update("-- @bind note body.texts.note")}.operation(t)
	if in := inputNamed(t, op, "body.texts.note"); in.GoName != "Texts.Note" || in.Required || !in.Nullable {
		t.Errorf("got %+v", in)
	}
	op = service{queries: update("-- @bind note header.x-note")}.operation(t)
	inputNamed(t, op, "header.X-Note")
}

func TestNearestBindWins(t *testing.T) {
	from := func(c *config.Config) {
		c.Bind = []spec.Bind{{Param: spec.Name{Value: "note"}, Source: spec.Source{Kind: spec.SourceHeader, Path: []string{"X-Config"}}}}
	}
	inputNamed(t, service{queries: update(), config: from}.operation(t), "header.X-Config")
	inputNamed(t, service{queries: update("-- @bind note body.query"), config: from}.operation(t), "body.query")
	step := "-- name: SetNote :exec\n-- @bind note body.query\nUPDATE payments SET note = @note;\n"
	spec := func(bind, stepBind string) string {
		return "endpoints:\n  Op:\n    http: POST /x\n" + bind + "    steps:\n      - query: SetNote\n" + stepBind
	}
	inputNamed(t, service{queries: step, specs: spec("    bind: {note: body.operation}\n", "")}.operation(t), "body.query")
	inputNamed(t, service{queries: step, specs: spec("", "        bind: {note: body.step}\n")}.operation(t), "body.step")
	plain := "-- name: SetNote :exec\nUPDATE payments SET note = @note;\n"
	inputNamed(t, service{queries: plain, specs: spec("    bind: {note: body.operation}\n", ""), config: from}.operation(t), "body.operation")
}

func TestCamelCase(t *testing.T) {
	camelCase := func(c *config.Config) { c.JSON.Case = "camel" }
	op := service{queries: createPayment, config: camelCase}.operation(t)
	inputNamed(t, op, "body.orderId")
	if col := op.Steps[0].Query.Columns[1]; col.Name != "order_id" || col.JSON != "orderId" {
		t.Errorf("got %+v", col)
	}
	inputNamed(t, service{queries: words(createPayment, "-- @bind order_id body.order_ref"), config: camelCase}.operation(t), "body.order_ref")
	get := "-- name: Op :one\n-- @http GET /x/{paymentId}\nSELECT id FROM payments WHERE id = @payment_id;\n"
	inputNamed(t, service{queries: get, config: camelCase}.operation(t), "path.paymentId")
}

func TestMadeValues(t *testing.T) {
	q := words("-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET created_at = @at, note = @a, order_id = @b, currency = @c, tenant_id = @t, amount = @n, meta = @doc::jsonb;\n",
		"-- @bind at now", "-- @bind a uuid7", "-- @bind b key", "-- @bind c 'EUR'", "-- @bind t scope", "-- @bind n '007'", "-- @bind doc '{}'")
	args := service{queries: q}.operation(t).Steps[0].Args
	for i, want := range []model.Source{{Kind: model.SourceNow}, {Kind: model.SourceUUID7}, {Kind: model.SourceKey},
		{Kind: model.SourceLiteral, Literal: "EUR"}, {Kind: model.SourceScope}, {Kind: model.SourceLiteral, Literal: "7"},
		{Kind: model.SourceLiteral, Literal: "{}"}} {
		if args[i] != want {
			t.Errorf("$%d is %+v, want %+v", i+1, args[i], want)
		}
	}
}

func TestHas(t *testing.T) {
	q := words("-- name: Op :exec\n-- @http PATCH /x\nUPDATE payments SET note = CASE WHEN @has_note::bool THEN @note::text ELSE note END;\n",
		"-- @bind has_note has(body.note)")
	op := service{queries: q}.operation(t)
	in := inputNamed(t, op, "body.note")
	if !in.HasAsked || in.Required {
		t.Errorf("got %+v", in)
	}
	if src := op.Steps[0].Args[0]; src.Kind != model.SourceHas || src.Input != in {
		t.Errorf("got %+v", src)
	}
	if len(op.Inputs) != 1 {
		t.Errorf("has() is no input of its own: %v", op.Inputs)
	}
}

func TestBindErrors(t *testing.T) {
	for _, c := range []struct {
		name, query string
		want        want
	}{
		{"unknown parameter", update("-- @bind nota body.x"), want{diag.BindUnknown, "Op has no parameter @nota", "did you mean note?", "nota"}},
		{"unknown path parameter", update("-- @bind note path.id"), want{diag.BindUnknown, "has no parameter {id}", "no path parameter", "path.id"}},
		{"body of a GET", "-- name: Op :many\n-- @http GET /x\n-- @bind id body.id\nSELECT id FROM payments WHERE id = @id;\n",
			want{diag.BindUnknown, "a GET request has no body", "query.id", "body.id"}},
		{"has without member", "-- name: Op :exec\n-- @http PATCH /x\n-- @bind has has(body.nota)\nUPDATE payments SET note = CASE WHEN @has::bool THEN @note::text END;\n",
			want{diag.BindUnknown, "has(body.nota) asks for a member that no parameter takes", "did you mean note?", "has("}},
		{"has of another type", update("-- @bind note has(body.x)"), want{diag.BindType, "has() is a boolean", "::boolean", "has("}},
		{"key header", update("-- @bind note header.Idempotency-Key"), want{diag.BindUnknown, "is the key's own", "`key`", "header"}},
		{"now into text", update("-- @bind note now"), want{diag.BindType, "now does not fit @note, which is text", "cast", "now"}},
		{"literal", "-- name: Op :exec\n-- @http POST /x\n-- @bind amount 'many'\nUPDATE payments SET amount = @amount;\n",
			want{diag.BindType, "'many' does not fit @amount, which is bigint: it is not a whole number", "type", "'many'"}},
		{"enum literal", "-- name: Op :exec\n-- @http POST /x\n-- @bind status 'paid'\nUPDATE payments SET status = @status;\n",
			want{diag.BindType, "it must be one of authorized, captured", "type", "'paid'"}},
		{"default", "-- name: Op :exec\n-- @http POST /x\n-- @bind amount body.amount default=x\nUPDATE payments SET amount = @amount;\n",
			want{diag.BindType, "the default \"x\" does not fit", "type", "x"}},
		{"default of the caller", update("-- @bind note caller.note default=x"), want{diag.BindType, "caller.note can't have a default", "remove", "x"}},
		{"min of text", update("-- @bind note body.note min=1"), want{diag.BindType, "min= and max= are for numbers", "varchar(n)", "1"}},
		{"min of the caller", "-- name: Op :exec\n-- @http POST /x\n-- @bind amount caller.amount min=1\nUPDATE payments SET amount = @amount;\n",
			want{diag.BindType, "check what a request brings", "remove", "1"}},
		{"max of another type", "-- name: Op :exec\n-- @http POST /x\n-- @bind amount body.amount max=x\nUPDATE payments SET amount = @amount;\n",
			want{diag.BindType, `"x" does not fit @amount`, "type", "x"}},
		{"two types of one member", "-- name: Op :exec\n-- @http POST /x\n-- @bind amount body.v\n-- @bind note body.v\nUPDATE payments SET amount = @amount, note = @note;\n",
			want{diag.BindType, "body.v is text here and bigint elsewhere", "@note::bigint", "body.v"}},
		{"value and object", "-- name: Op :exec\n-- @http POST /x\n-- @bind amount body.v\n-- @bind note body.v.w\nUPDATE payments SET amount = @amount, note = @note;\n",
			want{diag.BindType, "body.v is a value, so body.v.w can't be in it", "another member", "body.v.w"}},
		{"whole body of text", update("-- @bind note body"), want{diag.BindType, "the whole body is a document", "body.note", "body"}},
		{"whole body and member", "-- name: Op :exec\n-- @http POST /x\n-- @bind meta body\nUPDATE payments SET meta = @meta, note = @note;\n",
			want{diag.BindType, "the body can't be one value and have members", "body.NAME", "body"}},
		{"json in the query string", "-- name: Op :exec\n-- @http POST /x\n-- @bind meta query.meta\nUPDATE payments SET meta = @meta;\n",
			want{diag.BindType, "query.meta is text, but @meta is jsonb", "body", "query.meta"}},
		{"array in the path", "-- name: Op :exec\n-- @http POST /x/{ids}\n-- @bind ids path.ids\nDELETE FROM payments WHERE id = ANY(@ids::bigint[]);\n",
			want{diag.BindType, "path.ids is text", "body", "path.ids"}},
		{"step in a single statement", update("-- @bind note Other.note"), want{diag.BindUnknown, "", "", "Other.note"}},
	} {
		t.Run(c.name, func(t *testing.T) { service{queries: c.query}.refuses(t, c.want) })
	}
}

func TestWholeBody(t *testing.T) {
	op := service{queries: "-- name: Op :exec\n-- @http POST /x\n-- @bind meta body\nUPDATE payments SET meta = @meta;\n"}.operation(t)
	if in := inputNamed(t, op, "body"); !op.BodyWhole || in.GoName != "Body" || in.Required {
		t.Errorf("got %v %+v", op.BodyWhole, in)
	}
}

func TestCaller(t *testing.T) {
	one := "-- name: One :exec\n-- @http POST /one\n-- @bind note caller.user_id\nUPDATE payments SET note = @note WHERE tenant_id = @tenant_id;\n\n"
	two := "-- name: Two :exec\n-- @http POST /two\n-- @bind order_id caller.user_id\nUPDATE payments SET order_id = @order_id WHERE tenant_id = @tenant_id;\n"
	svc := service{queries: one + two}.ok(t)
	if len(svc.Caller) != 2 || svc.Caller[0].Name != "tenant_id" || svc.Caller[0].GoName != "TenantID" || svc.Caller[1].Name != "user_id" {
		t.Fatalf("got %+v", svc.Caller)
	}
	if svc.Caller[1].Type.Nullable {
		t.Error("one use of user_id is NOT NULL, so all are")
	}
	service{queries: one + "-- name: Two :exec\n-- @http POST /two\n-- @bind amount caller.user_id\nUPDATE payments SET amount = @amount;\n"}.
		refuses(t, want{diag.BindType, "caller.user_id is bigint here and text elsewhere", "one type in the whole service", "caller.user_id"})
	service{queries: update("-- @bind note caller.a-b")}.mentions(t, diag.BindUnknown, "caller needs a name")
	service{queries: update("-- @bind note caller.tenant__id")}.
		refuses(t, want{diag.NameCollision, "caller.tenant__id and caller.tenant_id have the same Go name", "rename", ""})
}

func TestScopeAndSession(t *testing.T) {
	svc := service{queries: update(), config: func(c *config.Config) {
		c.Session = []config.SessionVar{
			{Name: spec.Name{Value: "app.tenant"}, Source: spec.Source{Kind: spec.SourceScope}},
			{Name: spec.Name{Value: "app.role"}, Source: spec.Source{Kind: spec.SourceCaller, Path: []string{"role"}}},
			{Name: spec.Name{Value: "app.mode"}, Source: spec.Source{Kind: spec.SourceLiteral, Text: "on"}},
		}
	}}.ok(t)
	if len(svc.Session) != 3 || svc.Session[1].Source.Input.Name != "role" || svc.Session[2].Source.Literal != "on" {
		t.Errorf("got %+v", svc.Session)
	}
	if len(svc.Caller) != 2 || svc.Caller[0].Name != "role" || svc.Caller[0].Type.Kind != model.KindText || svc.Caller[0].Type.GoType.Expr != "string" {
		t.Errorf("got %+v", svc.Caller)
	}
	service{queries: update(), config: func(c *config.Config) {
		c.Session = []config.SessionVar{{Name: spec.Name{Value: "app.x"}, Source: spec.Source{Kind: spec.SourceBody, Path: []string{"x"}, Pos: diag.Pos{File: "idemgen.yaml", Line: 9}}}}
	}}.refuses(t, want{diag.BindUnknown, "app.x can't come from body.x", "caller.NAME", ""})
	service{queries: update(), config: func(c *config.Config) { c.Scope = spec.Source{} }}.
		refuses(t, want{diag.ScopeMissing, "no scope", "scope: none", ""})
	none := func(c *config.Config) { c.Scope = spec.Source{Kind: spec.SourceNone} }
	if svc := (service{queries: update(), config: none}).ok(t); svc.ScopeSource.Kind != model.SourceNone || len(svc.Caller) != 0 {
		t.Errorf("got %+v", svc.ScopeSource)
	}
	service{queries: update("-- @bind note scope"), config: none}.refuses(t, want{diag.BindUnknown, "no scope", "scope: caller.NAME", "scope"})
	service{queries: update(), config: func(c *config.Config) {
		c.Bind = []spec.Bind{{Param: spec.Name{Value: "tenent_id", Pos: diag.Pos{File: "idemgen.yaml", Line: 3}}, Source: c.Scope}}
	}}.refuses(t, want{diag.BindUnknown, "no query has a parameter named tenent_id", "there is: note", ""})
}

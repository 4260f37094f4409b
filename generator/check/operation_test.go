package check

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

func TestOneStatementIsAnOperation(t *testing.T) {
	op := service{queries: createPayment}.operation(t)
	if op.Name != "CreatePayment" || op.FileBase != "create_payment" || op.Method != "POST" || op.Path != "/v1/payments" {
		t.Errorf("got %s %s %s %s", op.Name, op.FileBase, op.Method, op.Path)
	}
	if op.Summary != "Record a payment for an order." || op.Description != "Record a payment for an order. At most once." {
		t.Errorf("summary %q, description %q", op.Summary, op.Description)
	}
	if op.Status != 201 || op.Key.From != "header" || !op.Key.Required {
		t.Errorf("status %d, key %+v", op.Status, op.Key)
	}
	var names []string
	for _, in := range op.Inputs {
		names = append(names, inputKey{in.From, in.Name}.String())
		if !in.Required || in.Nullable {
			t.Errorf("%s is required, never null; got %+v", in.Name, in)
		}
	}
	if want := []string{"body.amount", "body.currency", "body.order_id", "caller.tenant_id"}; !slices.Equal(names, want) {
		t.Errorf("inputs %v, want %v", names, want)
	}
	step := op.Steps[0]
	for i, name := range []string{"tenant_id", "order_id", "amount", "currency"} {
		if src := step.Args[i]; src.Kind != model.SourceInput || src.Input.Name != name {
			t.Errorf("$%d comes from %+v, want %s", i+1, src, name)
		}
	}
	if op.Response.Kind != model.ResponseStep || op.Response.Step != "CreatePayment" {
		t.Errorf("response %+v", op.Response)
	}
}

func TestDefaultStatus(t *testing.T) {
	row := " RETURNING id"
	for _, c := range []struct {
		query string
		want  int
	}{
		{"-- name: Op :one\n-- @http POST /x\nUPDATE payments SET note = @note" + row, 201},
		{"-- name: Op :one\n-- @http PUT /x\nUPDATE payments SET note = @note" + row, 200},
		{"-- name: Op :one\n-- @http GET /x\nSELECT id FROM payments LIMIT 1", 200},
		{"-- name: Op :many\n-- @http GET /x\nSELECT id FROM payments", 200},
		{"-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note", 204},
		{"-- name: Op :execrows\n-- @http DELETE /x/{id}\nDELETE FROM payments WHERE id = @id", 204},
		{"-- name: Op :one\n-- @http POST /x 202\nUPDATE payments SET note = @note" + row, 202},
	} {
		if got := (service{queries: c.query + ";\n"}).operation(t).Status; got != c.want {
			t.Errorf("%s\nstatus %d, want %d", c.query, got, c.want)
		}
	}
}

func TestDefaultKey(t *testing.T) {
	for _, c := range []struct {
		method string
		key    model.Key
	}{
		{"POST", model.Key{From: "header", Required: true}},
		{"PATCH", model.Key{From: "header", Required: true}},
		{"PUT", model.Key{From: "header"}},
		{"DELETE", model.Key{From: "header"}},
	} {
		op := service{queries: "-- name: Op :exec\n-- @http " + c.method + " /x/{id}\nDELETE FROM payments WHERE id = @id;\n"}.operation(t)
		if op.Key.From != c.key.From || op.Key.Required != c.key.Required {
			t.Errorf("%s: %+v, want %+v", c.method, op.Key, c.key)
		}
	}
	get := service{queries: "-- name: Op :one\n-- @http GET /x/{id}\nSELECT id FROM payments WHERE id = @id;\n"}.operation(t)
	if get.Key.From != "none" {
		t.Errorf("GET: %+v", get.Key)
	}
	configured := service{queries: createPayment, config: func(c *config.Config) {
		optional := false
		c.DefaultKeys = map[string]spec.Key{"POST": {From: "header", Required: &optional}}
	}}.operation(t)
	if configured.Key.Required {
		t.Error("the configuration's rule for POST is ignored")
	}
}

func TestOperationsAreSorted(t *testing.T) {
	q := "-- name: B :one\n-- @http GET /b\nSELECT id FROM payments;\n\n-- name: A :one\n-- @http GET /a\nSELECT id FROM payments;\n\n" +
		"-- name: C :one\nSELECT id FROM payments;\n"
	svc := service{queries: q}.ok(t)
	if len(svc.Operations) != 2 || svc.Operations[0].Name != "A" || svc.Operations[1].Name != "B" {
		t.Errorf("got %v", svc.Operations)
	}
}

func TestRoutes(t *testing.T) {
	get := func(name, path string) string {
		return "-- name: " + name + " :one\n-- @http GET " + path + "\nSELECT id FROM payments WHERE id = @id;\n\n"
	}
	service{queries: get("A", "/x/{id}") + words(get("B", "/x/{other}"), "-- @bind id path.other")}.
		refuses(t, want{diag.RouteConflict, "A and B are both at GET /x/{other}", "change one", ""})
	service{queries: get("A", "/x/{id}/{more}")}.
		refuses(t, want{diag.RouteForm, "nothing uses the path parameter {more}", "@bind PARAM path.more", "/x/{id}"})
	service{queries: "-- name: A :exec\n-- @http GET /x/{id}\nDELETE FROM payments WHERE id = @id;\n"}.
		refuses(t, want{diag.RouteForm, "GET must change nothing", "use POST", "GET"})
	service{queries: "-- name: A :one\n-- @http PUT /x/{id} 204\nUPDATE payments SET note = 'x' WHERE id = @id RETURNING id;\n"}.
		refuses(t, want{diag.RouteForm, "a 204 answer has no body", "use 200", "204"})
	for _, word := range []string{"@tag x", "@key header", "@policy timeout=1s", "@operation B", `@header X "y"`, "@example {}"} {
		name, _, _ := strings.Cut(word, " ")
		service{queries: "-- name: A :one\n-- " + word + "\nSELECT id FROM payments;\n"}.
			mentions(t, diag.RouteForm, name+" says how an operation is reached")
	}
	service{queries: "-- name: A :exec\n-- @empty 404\nDELETE FROM payments;\n"}.
		refuses(t, want{diag.RouteForm, "the annotations of A have no effect", "@http", "-- name"})
}

// mentions checks that this diagnostic is among those reported.
func (s service) mentions(t *testing.T, code diag.Code, message string) {
	t.Helper()
	_, diags := s.check(t)
	for _, d := range diags {
		if d.Code == code && strings.Contains(d.Message, message) {
			return
		}
	}
	t.Errorf("no diagnostic %s %q among %v", code, message, diags)
}

func TestNames(t *testing.T) {
	get := func(name, path string) string {
		return "-- name: " + name + " :one\n-- @http GET " + path + "\nSELECT id FROM payments LIMIT 1;\n\n"
	}
	service{queries: get("Service", "/a")}.refuses(t, want{diag.NameCollision, "collides with emitted code", "@operation", "-- name"})
	service{queries: get("listItems", "/a")}.refuses(t, want{diag.NameCollision, "is not an exported Go name", "@operation ListItems", "-- name"})
	service{queries: get("WithTx", "/a")}.refuses(t, want{diag.NameCollision, "collides with sqlc's own code", "GetWithTx", "-- name"})
	service{queries: get("GetUrl", "/a") + get("GetURL", "/b")}.
		refuses(t, want{diag.NameCollision, "the same file name get_url.go", "@operation", ""})
	service{queries: get("Get", "/a") + get("GetInput", "/b")}.
		refuses(t, want{diag.NameCollision, "the name GetInput is that of a type", "@operation", ""})
	service{queries: get("A", "/a") + words(get("B", "/b"), "-- @operation A")}.
		refuses(t, want{diag.RouteConflict, "two operations are named A", "@operation", ""})
	service{queries: get("Same", "/a"), more: get("Same", "/b")}.
		refuses(t, want{diag.RouteConflict, "two operations are named Same", "@operation", ""})
}

// A plain argument that sqlc's own code uses the name of can't be compiled.
func TestCase_sqlc_2_TakenNames(t *testing.T) {
	s := service{queries: "-- name: Op :exec\n-- @http DELETE /v1/x/{ctx}\nDELETE FROM payments WHERE order_id = @ctx;\n"}
	var diags diag.List
	in := s.input(t, &diags)
	in.Queries[0].Params[0].Taken = "ctx"
	Check(in, &diags)
	got := slices.DeleteFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.Code == diag.ScopeUnused })
	if len(got) != 1 || got[0].Code != diag.NameCollision || !strings.Contains(got[0].Hint, "query_parameter_limit: 0") || !strings.HasPrefix(s.textAt(got[0].Pos), "@ctx") {
		t.Errorf("got %v", got)
	}
}

func TestFileBase(t *testing.T) {
	for name, want := range map[string]string{
		"CreatePayment": "create_payment", "GetURL": "get_url", "HTTPServer": "http_server", "ListV2": "list_v2",
		"Api": "api_op", "RunTest": "run_test_op", "MoveWindows": "move_windows_op", "GetArm64": "get_arm64_op", "Put_It": "put_it",
		"Con": "con_op", "AUX": "aux_op", "Nul": "nul_op", "Com1": "com1_op", "Lpt9": "lpt9_op", "Console": "console", "GetCon": "get_con", "Com10": "com10",
	} {
		if got := fileBase(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Columns and parameters may be named like anything in the emitted code.
func TestCase_gen_1(t *testing.T) {
	names := []string{"result", "err", "ctx", "tx", "key", "type", "func", "string", "r", "w", "q"}
	var columns, params []string
	for _, n := range names {
		columns = append(columns, `"`+n+`" text NOT NULL`)
		params = append(params, "@"+n)
	}
	list := `"` + strings.Join(names, `", "`) + `"`
	op := service{migrations: "CREATE TABLE odd (" + strings.Join(columns, ", ") + ");",
		queries: "-- name: PutOdd :one\n-- @http POST /odd\nINSERT INTO odd (" + list + ") VALUES (" + strings.Join(params, ", ") + ")\nRETURNING " +
			strings.Join(names, ", ") + ";\n"}.operation(t)
	for i, n := range names {
		in := inputNamed(t, op, "body."+n)
		if in.GoName == "" || in.GoName[0] < 'A' || in.GoName[0] > 'Z' {
			t.Errorf("%s has the Go name %q", n, in.GoName)
		}
		if col := op.Steps[0].Query.Columns[i]; col.Name != n || col.JSON != n {
			t.Errorf("column %d: %+v", i, col)
		}
	}
}

func TestQueriesThatSqlcGetsWrong(t *testing.T) {
	service{queries: "-- name: A :one\n-- @http GET /a\nSELECT id FROM payments WHERE id = $1;\n"}.
		refuses(t, want{diag.QueryUnsupport, "parameter $1 of A has no name", "@name", "-- name"})
	service{queries: "-- name: A :execresult\n-- @http POST /a\nUPDATE payments SET note = @note;\n"}.
		refuses(t, want{diag.QueryUnsupport, ":execresult has no form", ":execrows", ""})
	service{queries: "-- name: A :batchexec\n-- @http POST /a\nUPDATE payments SET note = @note;\n"}.
		refuses(t, want{diag.QueryUnsupport, ":batchexec runs once per element", "each: body.NAME", ""})
	unknown := service{queries: createPayment}
	var diags diag.List
	in := unknown.input(t, &diags)
	in.Queries = nil
	Check(in, &diags)
	if got := diags.Sorted(); len(got) != 2 || got[1].Code != diag.SqlcFailed { // and the bind: that nothing meets
		t.Errorf("got %v", got)
	}
}

func TestTypesWithoutForm(t *testing.T) {
	service{queries: "-- name: A :one\n-- @http GET /a\nSELECT id, note::tsvector AS words FROM payments LIMIT 1;\n"}.
		refuses(t, want{diag.TypeUnsupported, "column words has the type tsvector", "cast it", "-- name"})
	service{queries: "-- name: A :exec\n-- @http POST /a\nUPDATE payments SET note = @place::point;\n"}.
		refuses(t, want{diag.TypeUnsupported, "parameter @place has the type point", "cast it", "@place"})
	untyped := service{queries: "-- name: A :one\n-- @http GET /a\nSELECT id FROM payments LIMIT 1;\n"}
	var diags diag.List
	in := untyped.input(t, &diags)
	in.Queries[0].Columns[0].GoType.Expr = "interface{}"
	Check(in, &diags)
	if got := diags.Sorted(); len(got) != 1 || got[0].Code != diag.QueryUnsupport || !strings.Contains(got[0].Hint, "override") {
		t.Errorf("got %v", got)
	}
}

func TestSameInputGivesTheSameModel(t *testing.T) {
	s := service{queries: createPayment + "\n" + placeOrder + "\n" + capture + "\n" + orderQueries,
		specs: "endpoints:\n  PlaceOrder:\n    http: POST /v1/orders\n" + orderSteps}
	first, err := json.Marshal(s.ok(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := json.Marshal(s.ok(t))
		if err != nil || string(again) != string(first) {
			t.Fatalf("another model: %v\n%s\n%s", err, first, again)
		}
	}
}

func TestWhereAParameterStands(t *testing.T) {
	d := &spec.QueryDecl{File: "q.sql", SQL: spec.SQL{Line: 7, Text: "SELECT @id_more, @id\n  + sqlc.narg('note') , sqlc.arg( kind )"}}
	for name, want := range map[string]diag.Pos{
		"id":      {File: "q.sql", Line: 7, Col: 18, Width: 3},
		"id_more": {File: "q.sql", Line: 7, Col: 8, Width: 8},
		"note":    {File: "q.sql", Line: 8, Col: 5, Width: 15},
		"kind":    {File: "q.sql", Line: 8, Col: 25, Width: 14},
		"none":    {},
	} {
		if got := paramPos(d, name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

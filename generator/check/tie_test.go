package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// unbound leaves the scope's parameter to its default source.
func unbound(c *config.Config) { c.Bind = nil }

// TestCase_scope_1_ForgedTenant: a tenant that the request names silently is an
// error, one that an @bind takes from it a warning.
func TestCase_scope_1_ForgedTenant(t *testing.T) {
	insert := func(param string, lines ...string) string {
		return words("-- name: Op :exec\n-- @http POST /x/{order_id}\nINSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@"+param+", @order_id, 1, 'EUR');\n", lines...)
	}
	get := "-- name: Op :many\n-- @http GET /x\nSELECT id FROM payments WHERE tenant_id = @tenant_id;\n"
	path := "-- name: Op :many\n-- @http GET /tenants/{tenant_id}\nSELECT id FROM payments WHERE tenant_id = @tenant_id;\n"
	update := "-- name: Op :exec\n-- @http POST /x\n-- @bind note caller.tenant_id\nUPDATE payments SET tenant_id = @new_owner WHERE note = @note;\n"
	list := "-- name: Op :exec\n-- @http POST /x\nINSERT INTO payments (tenant_id, order_id, amount, currency) SELECT r.tenant_id, r.o, 1, 'EUR' FROM jsonb_to_recordset(@rows::jsonb) AS r(tenant_id text, o text);\n"
	each := "-- name: Add :exec\nINSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, 'x', 1, 'EUR');\n"
	eachSpec := "endpoints:\n  Op:\n    http: POST /x\n    steps:\n      - query: Add\n        each: body.rows\n        bind: {tenant_id: item.tenant_id}\n"
	for name, c := range map[string]struct {
		s    service
		want want
		is   diag.Severity
	}{
		"body":                        {service{queries: insert("tenant_id")}, want{diag.ScopeForged, "body.tenant_id says it", "bind: {tenant_id: caller.tenant_id} to idemgen.yaml; or, if the caller may choose, write @bind tenant_id body.tenant_id", "@tenant_id"}, diag.Error},
		"query":                       {service{queries: get}, want{diag.ScopeForged, "query.tenant_id says it", "@bind tenant_id query.tenant_id", "@tenant_id"}, diag.Error},
		"path":                        {service{queries: path}, want{diag.ScopeForged, "path.tenant_id says it", "@bind tenant_id path.tenant_id", "@tenant_id"}, diag.Error},
		"its column, by another name": {service{queries: insert("owner")}, want{diag.ScopeForged, "@owner says whose the row is", "bind: {owner: caller.tenant_id}", "@owner"}, diag.Error},
		"its column, in a list":       {service{queries: list}, want{diag.ScopeForged, "@rows says whose the row is, and body.rows says it", "@bind rows body.rows", "@rows"}, diag.Error},
		"bind of the body":            {service{queries: insert("tenant_id", "-- @bind tenant_id body.tenant")}, want{diag.ScopeForged, "@tenant_id comes from body.tenant", "caller.tenant_id", "body.tenant"}, diag.Warning},
		"bind of the path":            {service{queries: insert("tenant_id", "-- @bind tenant_id path.order_id")}, want{diag.ScopeForged, "comes from path.order_id", "caller.tenant_id", "path.order_id"}, diag.Warning},
		"bind of a header":            {service{queries: insert("tenant_id", "-- @bind tenant_id header.X-Tenant")}, want{diag.ScopeForged, "comes from header.X-Tenant", "caller.tenant_id", "header.X-Tenant"}, diag.Warning},
		"bind of an item":             {service{queries: each, specs: eachSpec}, want{diag.ScopeForged, "comes from item.tenant_id", "caller.tenant_id", "item.tenant_id"}, diag.Warning},
		"another's row, by a caller that is known": {service{queries: update}, want{}, ""},
		"another's row, said":                      {service{queries: insert("owner", "-- @bind owner body.owner")}, want{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.config = unbound
			if c.is == "" {
				c.s.ok(t)
				return
			}
			c.s.refuses(t, c.want)
			if _, diags := c.s.check(t); diags[0].Severity != c.is {
				t.Errorf("it is a %s", diags[0].Severity)
			}
		})
	}
	service{queries: insert("tenant_id")}.ok(t) // bound to the caller
	service{queries: insert("tenant_id"), config: func(c *config.Config) { c.Bind, c.Scope = nil, spec.Source{Kind: spec.SourceNone} }}.ok(t)
}

// TestCase_scope_1_AnyCaller: an operation that knows no caller is reported.
func TestCase_scope_1_AnyCaller(t *testing.T) {
	capture := "-- name: Capture :exec\n-- @http POST /x/{id}\nUPDATE payments SET status = 'captured' WHERE id = @id;\n"
	line := "-- name: AddLine :exec\n-- @http POST /lines\nINSERT INTO lines (payment_id, sku, qty) VALUES (@payment_id, @sku, @qty);\n"
	get := "-- name: Get :one\n-- @http GET /lines/{sku}\nSELECT qty FROM lines WHERE sku = @sku;\n"
	tenant := spec.Source{Kind: spec.SourceCaller, Path: []string{"tenant_id"}}
	idle := func(c *config.Config) {
		c.Bind = []spec.Bind{{Param: spec.Name{Value: "tenant", Pos: diag.Pos{File: "idemgen.yaml", Line: 9}}, Source: tenant}}
	}
	session := func(c *config.Config) {
		c.Session = []config.SessionVar{{Name: spec.Name{Value: "app.t"}, Source: tenant}}
	}
	service{queries: capture, ties: true}.refuses(t, want{diag.ScopeUnused, "Capture writes payments, but nothing in it depends on the caller", "use @tenant_id", "-- name"})
	service{queries: line, ties: true}.refuses(t, want{diag.ScopeUnused, "AddLine has a key of its caller, but does the same for every caller", "caller.tenant_id", ""})
	service{queries: get, ties: true}.ok(t)
	service{queries: capture, ties: true, config: session}.ok(t)
	for query, severity := range map[string]diag.Severity{capture: diag.Error, line: diag.Warning} {
		_, diags := service{queries: query, ties: true, config: idle}.check(t)
		if len(diags) != 2 || diags[0].Code != diag.BindUnknown || diags[1].Code != diag.ScopeUnused || diags[1].Severity != severity {
			t.Errorf("a bind that no query uses: got %v, want a %s beside it", diags, severity)
		}
	}
}

func TestPathParameterHints(t *testing.T) {
	del := func(path, where string) string {
		return "-- name: Op :exec\n-- @http DELETE " + path + "\nDELETE FROM payments WHERE " + where + ";\n"
	}
	for _, c := range []struct{ path, where, hint string }{
		{"/loans/{loan_id}", "id = @id", "rename it to {id}, or write @bind id path.loan_id"},
		{"/loans/{loan_id}", "id = @id AND note = @note", "rename it to {id}, or write @bind id path.loan_id"},
		{"/loans/{orderId}", "order_id = @order_id AND note = @note", "rename it to {order_id}, or write @bind order_id path.orderId"},
		{"/loans/{number}", "id = @id AND note = @note", "write @bind PARAM path.number"},
	} {
		service{queries: del(c.path, c.where)}.refuses(t, want{diag.RouteForm, "nothing uses the path parameter", c.hint, ""})
	}
}

func TestErrorOfAnExclusion(t *testing.T) {
	booking := "CREATE EXTENSION IF NOT EXISTS btree_gist;\nCREATE TABLE bookings (room text NOT NULL, note text, CONSTRAINT no_overlap EXCLUDE USING gist (room WITH =));\n"
	op := service{migrations: booking, queries: "-- name: Book :exec\n-- @http POST /b\n-- @error no_overlap 409 taken\nINSERT INTO bookings (room) VALUES (@room);\n"}.operation(t)
	if rules := op.Steps[0].Errors; len(rules) != 1 || rules[0].Constraint != "no_overlap" || rules[0].Problem != (model.Problem{Status: 409, Code: "taken", Title: rules[0].Problem.Title}) {
		t.Errorf("got %+v", rules)
	}
}

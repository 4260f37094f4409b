package render

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// reservedNames is case gen-1: columns and parameters under names that Go, or
// the emitted code, uses itself.
func reservedNames() *plan.Operation {
	names := []string{
		"result", "err", "ctx", "tx", "key", "type", "func", "string", "r", "w", "q", "in", "out", "caller",
		"idem", "s", "o", "values", "columns", "idem_values", "append", "len", "nil", "any", "meta", "2fa", "größe",
	}
	inputs := make([]*model.Input, len(names), len(names)+2)
	columns := make([]model.Column, len(names))
	elements := make([]model.Member, len(names))
	for i, name := range names {
		inputs[i] = body(name, textType)
		columns[i] = column(name, textType)
		elements[i] = model.Member{Name: name, GoName: goName(name), Type: model.Type{Kind: model.KindText}, Required: true}
	}
	path := input(model.FromPath, "key", textType) // the same Go name as the body's
	inputs = append([]*model.Input{path}, append(inputs, body("list", model.Type{Kind: model.KindRecord, List: true, Members: elements}), tenant)...)
	step := &model.Step{Query: &model.Query{Command: "many", Columns: columns}}
	op := operation("type", "type", "POST", "/v1/types/{key}", 200, headerKey, step, inputs...)
	return &plan.Operation{Model: op, Strategy: plan.Fused, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "keyed", SQL: "SELECT 1;\n", Args: append(args(inputs...), runtimeValues()...)},
	}}
}

// namedOperation is a small read.
func namedOperation(name, file, path string) *plan.Operation {
	step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{column("id", bigint)}}}
	return &plan.Operation{
		Model:    operation(name, file, "GET", path, 200, noKey, step, tenant),
		Strategy: plan.Direct, RoundTrips: 1,
		Statements: []plan.Statement{{Name: "unkeyed", SQL: "SELECT 1;\n", Args: args(tenant)}},
	}
}

// openService: no scope, a session variable, wrapped camel-case rows.
func openService() *model.Service {
	svc := service()
	svc.Package, svc.Name = "open", "stock"
	svc.ScopeSource = model.Source{Kind: model.SourceNone}
	svc.Caller = nil
	svc.Session = []model.SessionVar{{Name: "app.role", Source: model.Source{Kind: model.SourceLiteral, Literal: "reader"}}}
	svc.JSON = model.JSONStyle{Case: "camel", One: "data", Many: "rows"}
	svc.UnknownFields = true
	return svc
}

// moveStock: two sqlc packages of one name, the whole body as one value.
func moveStock() *plan.Operation {
	document := body("", typ(model.KindJSON, "[]byte"))
	document.GoName = "Body"
	step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{
		camel("from_status", nullable(typ(model.KindText, "db.NullPaymentStatus", dbImport))),
		camel("to_unit", typ(model.KindText, "db.Unit", testModule+"/stock/db")),
		camel("all_units", array(typ(model.KindText, "db.Unit", testModule+"/stock/db"))),
		camel("amount", numeric),
	}}}
	op := operation("MoveStock", "move_stock", "POST", "/v1/moves", 200, headerKey, step, document)
	op.BodyWhole, op.Policy.NoPrint = true, true
	return &plan.Operation{Model: op, Strategy: plan.Fused, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "keyed", SQL: "SELECT 1;\n", Args: append(args(document), runtimeValues()...)},
		{Name: "session", SQL: "SELECT 0;\n"},
	}}
}

// readUnit: one column is the whole answer; a key from a header.
func readUnit() *plan.Operation {
	delivery := input(model.FromHeader, "X-Delivery", textType)
	step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{column("unit", textType)}}}
	op := operation("ReadUnit", "read_unit", "POST", "/v1/unit", 200, model.Key{From: "source", Source: from(delivery)}, step, delivery)
	op.Response = model.Response{Kind: model.ResponseColumn, Step: "ReadUnit", Column: "unit"}
	return &plan.Operation{Model: op, Strategy: plan.Stepped, RoundTrips: 3, Reason: "its table has a rule", Statements: []plan.Statement{
		{Name: "step.ReadUnit", SQL: "SELECT 1;\n", Args: args(delivery), Results: plan.Results{JSON: []string{"unit"}}},
		{Name: "session", SQL: "SELECT 0;\n"},
	}}
}

// camel is a column whose member is named in camel case.
func camel(name string, t model.Type) model.Column {
	c := column(name, t)
	c.JSON = lowerFirst(c.GoName)
	return c
}

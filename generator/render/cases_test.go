package render

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// emitCase is a service whose emitted package is a golden folder.
type emitCase struct {
	name string
	svc  *model.Service
	ops  []*plan.Operation
}

func emitCases() []emitCase {
	return []emitCase{
		newCase("payments", service(), createPayment(), deleteCustomer(), getBook(), listPayments(), patchCustomer(), placeOrder(), putCustomer()),
		newCase("names", service(), reservedNames()),
		newCase("open", openService(), moveStock(), readUnit()),
		newCase("rides", service(), chargeRide(), createPayout()),
		onlyHooks(), onlyConsumers(),
	}
}

func newCase(name string, svc *model.Service, ops ...*plan.Operation) emitCase {
	for _, op := range ops {
		svc.Operations = append(svc.Operations, op.Model)
	}
	return emitCase{name: name, svc: svc, ops: ops}
}

// createPayment: fused, an intent that may be shown, a header, checks.
func createPayment() *plan.Operation {
	order := body("order_id", checked(model.Type{Kind: model.KindText, Length: 64, GoType: textType.GoType},
		model.Check{Op: model.CheckMinLength, Value: "1"}))
	amount := body("amount", checked(bigint, model.Check{Op: model.CheckExclusiveMin, Value: "0"}))
	currency := body("currency", checked(textType, model.Check{Op: model.CheckPattern, Value: `^[A-Z]{3}\d*$`}))
	table := model.TableName{Name: "payments"}
	step := &model.Step{
		Query: &model.Query{
			Command: "one",
			Columns: []model.Column{column("id", bigint), column("order_id", textType), column("status", statusEnum), column("created_at", timestamp)},
			Shape:   model.Shape{Kind: model.Insert, Target: table, Writes: []model.TableName{table}},
		},
		Args:   []model.Source{from(tenant), from(order), from(amount), from(currency)},
		Errors: []model.ErrorRule{{Constraint: "payments_amount_check", Problem: model.Problem{Status: 422, Code: "amount_not_positive", Title: "it's \"positive\""}}},
		Intent: &model.Intent{Table: table, Columns: []string{"tenant_id", "order_id"}, Index: "payments_tenant_id_order_id_intent", Missing: true, ScopeIn: true},
		Omit:   []string{"internal"},
	}
	op := operation("CreatePayment", "create_payment", "POST", "/v1/payments", 201, headerKey, step, order, amount, currency, tenant)
	op.Description = "Record a payment for an order, at most once per tenant and order.\nA second sentence."
	return &plan.Operation{Model: op, Strategy: plan.Fused, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "keyed", SQL: "-- $1 tenant_id: caller.tenant_id\nSELECT 1;\n", Args: append(args(tenant, order, amount, currency), runtimeValues()...)},
		{Name: "existing", SQL: "SELECT 2;\n", Args: args(tenant, order)},
	}}
}

// listPayments: a read, rows, defaults.
func listPayments() *plan.Operation {
	after := input(model.FromQuery, "after", bigint)
	zero := "0"
	after.Default, after.Required = &zero, false
	statuses := input(model.FromQuery, "status", array(statusEnum))
	statuses.Required = false
	step := &model.Step{Query: &model.Query{Command: "many", Columns: []model.Column{column("id", bigint), column("tags", array(textType))}}}
	op := operation("ListPayments", "list_payments", "GET", "/v1/payments", 200, noKey, step, after, statuses, tenant)
	return &plan.Operation{Model: op, Strategy: plan.Direct, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "unkeyed", SQL: "SELECT 1;\n", Args: args(tenant, after, statuses)},
	}}
}

// deleteCustomer: no rows, an optional key, verbatim.
func deleteCustomer() *plan.Operation {
	id := input(model.FromPath, "id", uuid)
	table := model.TableName{Schema: "crm", Name: "customers"}
	step := &model.Step{
		Query: &model.Query{Command: "execrows", Shape: model.Shape{Kind: model.Delete, Target: table, Writes: []model.TableName{table}}},
		Empty: model.Empty{Problem: model.Problem{Status: 404, Code: "not_found", Title: "it isn't there"}},
	}
	op := operation("DeleteCustomer", "delete_customer", "DELETE", "/v1/customers/{id}", 204, optionalKey, step, id, tenant)
	return &plan.Operation{Model: op, Strategy: plan.Verbatim, RoundTrips: 1, MayBeEmpty: true,
		Reason: "crm.customers has a statement-level trigger,\nwhich would fire on a replay", Statements: []plan.Statement{
			{Name: "prior", SQL: "SELECT 1;\n", Args: runtimeValues()[:2]},
			{Name: "claim", SQL: "SELECT 2;\n", Args: runtimeValues()},
			{Name: "keyed", SQL: "SELECT 3;\n", Args: append(args(tenant, id), runtimeValues(plan.ArgEmpty)...)},
			{Name: "unkeyed", SQL: "SELECT 4;\n", Args: append(args(tenant, id), plan.Arg{Runtime: plan.ArgEmpty})},
		}}
}

// patchCustomer: has(), nested body members, a forced retry, headers.
func patchCustomer() *plan.Operation {
	id := input(model.FromPath, "id", bigint)
	email := body("contact.email", nullText)
	email.HasAsked = true
	phone := body("contact.phone", nullText)
	step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{column("id", bigint), column("email", nullText)}}}
	op := operation("PatchCustomer", "patch_customer", "PATCH", "/v1/customers/{id}", 200, headerKey, step, id, email, phone, tenant)
	op.Policy.Fingerprint = []string{"contact.email"}
	op.Policy.Wait, op.Policy.RecordBody, op.Policy.ForceRetry = 0, false, true
	op.Headers = []model.Header{{Name: "X-Version", Step: "a"}, {Name: "Location"}, {Name: "X-Version", Step: "b"}}
	has := plan.Arg{Source: model.Source{Kind: model.SourceHas, Input: email}, Type: boolType}
	return &plan.Operation{Model: op, Strategy: plan.Fused, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "keyed", SQL: "SELECT 1;\n", Args: append(append(args(tenant, id), has), append(args(email, phone), runtimeValues(plan.ArgLock)...)...)},
		{Name: "forced", SQL: "SELECT 2;\n", Args: append(append(args(tenant, id), has), append(args(email, phone), runtimeValues(plan.ArgEmpty, plan.ArgEmptyHeaders)...)...)},
	}}
}

// putCustomer: a status column, a key made from the intent.
func putCustomer() *plan.Operation {
	id := input(model.FromPath, "id", textType)
	name := body("name", textType)
	table := model.TableName{Schema: "public", Name: "customers"}
	step := &model.Step{
		Query: &model.Query{
			Command: "one",
			Params:  []model.Param{{Number: 1, Type: textType}, {Number: 2, Type: textType}, {Number: 3, Type: textType}},
			Columns: []model.Column{column("id", textType), column("name", textType), column("created", boolType), column("allowed", boolType)},
			Shape: model.Shape{Kind: model.Insert, Target: table, Writes: []model.TableName{table}, Feeds: []model.Feed{
				{Param: 1, Table: model.TableName{Name: "customers"}, Column: "tenant_id", Assigned: true, Plain: true},
				{Param: 2, Table: model.TableName{Name: "customers"}, Column: "id", Assigned: true, Plain: true},
			}},
		},
		Args:     []model.Source{from(tenant), from(id), from(name)},
		Requires: []model.Require{{Column: "allowed", Problem: model.Problem{Status: 409, Code: "closed", Title: "closed"}}},
		Statuses: []model.StatusRule{{Column: "created", Status: 201}},
		Intent:   &model.Intent{Table: table, Columns: []string{"tenant_id", "id"}, Index: "customers_pkey", ScopeIn: true},
		OnIntent: "return",
	}
	key := model.Key{From: "intent", Prefix: []model.Part{{Text: "put-"}, {Name: "id"}}}
	op := operation("PutCustomer", "put_customer", "PUT", "/v1/customers/{id}", 200, key, step, id, name, tenant)
	return &plan.Operation{Model: op, Strategy: plan.Fused, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "keyed", SQL: "SELECT 1;\n", Args: append(append(args(tenant, id, name), runtimeValues()...),
			plan.Arg{Runtime: plan.ArgEvent, Label: "PutCustomer customer.put 1"}, plan.Arg{Runtime: plan.ArgTrace})},
	}}
}

// placeOrder: stepped, a list whose elements run a statement each, a response
// map, serializable.
func placeOrder() *plan.Operation {
	reference := body("reference", textType)
	linesInput := body("lines", model.Type{Kind: model.KindRecord, List: true, Members: []model.Member{
		{Name: "sku", GoName: "Sku", Type: model.Type{Kind: model.KindText}, Required: true},
		{Name: "qty", GoName: "Qty", Type: model.Type{Kind: model.KindInt4, Checks: []model.Check{{Op: model.CheckMin, Value: "1"}}}, Required: true},
		{Name: "price", GoName: "Price", Type: model.Type{Kind: model.KindNumeric}, Required: true},
		{Name: "note", GoName: "Note", Type: model.Type{Kind: model.KindText, Nullable: true}},
	}})
	address := body("address", model.Type{Kind: model.KindRecord, Nullable: true, Members: []model.Member{
		{Name: "street", GoName: "Street", Type: model.Type{Kind: model.KindText}, Required: true},
	}})
	address.Required = false
	orders, orderLines := model.TableName{Name: "orders"}, model.TableName{Name: "order_lines"}
	insertOrder := &model.Step{Name: "InsertOrder", Query: &model.Query{
		Command: "one", Columns: []model.Column{column("id", uuid), column("reference", textType)},
		Shape: model.Shape{Kind: model.Insert, Writes: []model.TableName{orders}},
	}}
	insertLine := &model.Step{Name: "InsertLine", Each: linesInput, Query: &model.Query{
		Command: "one", Columns: []model.Column{column("sku", textType), column("qty", integer)},
		Shape: model.Shape{Kind: model.Insert, Writes: []model.TableName{orderLines, orders, orderLines}},
	}}
	touch := &model.Step{Name: "Touch", Query: &model.Query{Command: "exec"}, Empty: model.Empty{Fine: true, Status: 204}}
	op := operation("PlaceOrder", "place_order", "POST", "/v1/orders", 201, headerKey, &model.Step{Query: &model.Query{}}, address, linesInput, reference, tenant)
	op.Steps, op.Spec = []*model.Step{insertOrder, insertLine, touch}, true
	op.Policy.Sealed = true
	op.Policy.Isolation = "serializable"
	op.Response = model.Response{Kind: model.ResponseObject, Members: []model.ResponseMember{
		{Name: "order", Value: model.Response{Kind: model.ResponseStep, Step: "InsertOrder"}},
		{Name: "lines", Value: model.Response{Kind: model.ResponseStep, Step: "InsertLine"}},
		{Name: "reference", Value: model.Response{Kind: model.ResponseColumn, Step: "InsertOrder", Column: "reference"}},
		{Name: "detail", Value: model.Response{Kind: model.ResponseObject, Members: []model.ResponseMember{
			{Name: "skus", Value: model.Response{Kind: model.ResponseColumn, Step: "InsertLine", Column: "sku"}},
		}}},
	}}
	orderID := plan.Arg{Source: model.Source{Kind: model.SourceStep, Step: "InsertOrder", Column: "id"}, Type: uuid}
	sku := plan.Arg{Source: model.Source{Kind: model.SourceItem, Input: linesInput, Member: "sku"}, Type: textType}
	qty := plan.Arg{Source: model.Source{Kind: model.SourceItem, Input: linesInput, Member: "qty"}, Type: integer}
	made := plan.Arg{Source: model.Source{Kind: model.SourceUUID7}, Type: uuid}
	fixed := plan.Arg{Source: model.Source{Kind: model.SourceLiteral, Literal: `it's \ "fixed"`}, Type: textType}
	return &plan.Operation{Model: op, Strategy: plan.Stepped, RoundTrips: 5, Reason: "several statements", Statements: []plan.Statement{
		{Name: "step.InsertOrder", SQL: "SELECT 1;\n", Args: append([]plan.Arg{made, fixed}, args(tenant, reference, address)...),
			Results: plan.Results{Row: true, JSON: []string{"reference"}, Headers: true, Text: []string{"reference", "id"}}},
		{Name: "step.InsertLine", SQL: "SELECT 2;\n", Args: []plan.Arg{orderID, sku, qty}, Results: plan.Results{Row: true, JSON: []string{"sku"}}},
		{Name: "step.Touch", SQL: "SELECT 3;\n", Args: []plan.Arg{orderID}, Results: plan.Results{RowsAffected: true}},
	}}
}

// getBook: dotted aliases and an embedded table.
func getBook() *plan.Operation {
	id := input(model.FromPath, "id", bigint)
	step := &model.Step{Query: &model.Query{Command: "one", Columns: []model.Column{
		column("id", bigint), column("publisher.name", textType), column("publisher.address.city", nullText),
		{Name: "author", GoName: "Author", Embed: []model.Column{column("id", bigint), column("name", textType)}},
	}}}
	op := operation("GetBook", "get_book", "GET", "/v1/books/{id}", 200, noKey, step, id, tenant)
	return &plan.Operation{Model: op, Strategy: plan.Direct, RoundTrips: 1, Statements: []plan.Statement{
		{Name: "unkeyed", SQL: "SELECT 1;\n", Args: args(tenant, id)},
	}}
}

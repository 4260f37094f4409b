package diag

// explainOperations explains what can be wrong with routes, keys and inputs.
func explainOperations() []Explanation {
	return []Explanation{
		{
			Code: BindUnknown, Title: "a source that does not exist",
			Meaning: "A source is body.NAME, body, path.NAME, query.NAME, header.NAME, caller.NAME, scope, key, has(body.NAME), now, uuid4, uuid7 or 'literal'; in a spec's steps also STEP.COLUMN and item.NAME. The parameter or the path parameter that is named must exist; for the binds of an endpoint, in one of its steps. A webhook has no caller but the scope that its verifier says, and a consumer none but that of its messages, and neither path nor query.",
			Wrong:   "-- @bind tenant_id callr.tenant_id",
			Right:   "-- @bind tenant_id caller.tenant_id",
		},
		{
			Code: BindType, Title: "a source that does not fit its parameter",
			Meaning: "The type of the source differs from the parameter's, one source feeds parameters of different types, or min, max or default is not a value of the type. A default or a literal is a value that the column takes and that a request could send: CHECKs, enums, lengths, min and max hold for it too. Together with the CHECKs, min and max leave something to send.",
			Wrong:   "-- @bind page_size query.limit default=500 min=1 max=100",
			Right:   "-- @bind page_size query.limit default=50 min=1 max=100",
		},
		{
			Code: RouteConflict, Title: "two operations on one route, or with one name",
			Meaning: "Method and path, names of path parameters apart, must be unique in a service; so must operation names. An async operation also has GET PATH/{event_id}, where its status is. Webhooks of one system share a route, so each type of delivery is for one of them, and one at most takes the rest; so it is with the consumers of a topic.",
			Wrong:   "-- @http GET /v1/payments/{id}\n-- … and on another query: @http GET /v1/payments/{payment_id}",
			Right:   "-- @http GET /v1/payments/{id}\n-- … and on the other: @http GET /v1/payments/by-order/{order_id}",
		},
		{
			Code: RouteForm, Title: "a method, path or status that can't be",
			Meaning: "Methods are GET, HEAD, POST, PUT, PATCH and DELETE, in capitals. A path begins with / and holds {name} for parameters; the SQL type decides what they accept, so patterns inside the braces and * are refused, as are query strings, %-escapes, empty segments, and . and .. as segments. The status is that of a success: 2xx, or a redirect. A webhook has a route of its own and a consumer has none, so they have no @http.",
			Wrong:   "-- @http post v1/payments 404",
			Right:   "-- @http POST /v1/payments 201",
		},
		{
			Code: KeyRule, Title: "a key rule that can't work here",
			Meaning: "A key must come from the request and be the same at every try. now and uuid4 differ each time, a literal never does. body.NAME and query.NAME are inputs that a parameter takes; a key of its own comes as a header. @key intent needs an @intent, and a prefix may hold only names of path parameters. Calls and async operations need a key: what is done already is remembered under it. The key of a webhook is the id of its delivery. That of a consumer is the id of its message, or an input of it.",
			Wrong:   "-- @key uuid7",
			Right:   "-- @key header",
		},
		{
			Code: IntentColumns, Title: "an intent whose columns can't hold it",
			Meaning: "The columns of an intent must exist, be NOT NULL (nulls are never equal, so they would let a second row in; in the example, note may be null), include the partition key of a partitioned table, and be written by the statement. A condition (`where …`) may only say what holds for a row for ever: columns, constants and immutable functions.",
			Wrong:   "-- @intent payments (tenant_id, note)",
			Right:   "-- @intent payments (tenant_id, order_id)",
		},
		{
			Code: IntentReturn, Title: "`return` without the scope column",
			Meaning: "With `return` the existing row is the answer. Unless the intent includes the column bound to the scope, that row could be another tenant's.",
			Wrong:   "-- @intent payments (order_id) return",
			Right:   "-- @intent payments (tenant_id, order_id) return",
		},
		{
			Code: StepOrder, Title: "a step that uses a later or unknown one",
			Meaning: "A step can bind columns of the steps above it, and a response names steps of its own endpoint. Steps that use the same query twice need `as:`. A step with `each:` binds something to item.NAME.",
			Wrong:   "steps:\n  - query: InsertLine\n    bind: {order_id: InsertOrder.id}\n  - query: InsertOrder",
			Right:   "steps:\n  - query: InsertOrder\n  - query: InsertLine\n    bind: {order_id: InsertOrder.id}",
		},
		{
			Code: ScopeMissing, Title: "no scope",
			Meaning: "Every key belongs to one principal: without a scope, one client could read or block another's keys. Name the field of the caller that says whose the request is. `scope: none` is for anonymous services and must be spelled out.",
			Wrong:   "version: 1\nout: internal/api",
			Right:   "version: 1\nout: internal/api\nscope: caller.tenant_id",
		},
		{
			Code: ScopeForged, Title: "the request, not the caller, says whose a row is",
			Meaning: "A parameter that is named like the scope's field, or that reaches the column of that name, would be filled by the request, so any caller could read or write another's rows. Bind it to the caller, for all queries under `bind:` in idemgen.yaml. If callers of this operation may choose, an @bind that says so makes it a warning.",
			Wrong:   "scope: caller.tenant_id      # and @tenant_id in the SQL, without a bind",
			Right:   "scope: caller.tenant_id\nbind: {tenant_id: caller.tenant_id}",
		},
		{
			Code: ScopeUnused, Title: "an operation that does the same for every caller",
			Meaning: "Keys belong to the caller, but no statement of the operation knows who calls: every caller reaches every row. It is an error where the table has the scope's column and `bind:` ties the scope to a parameter that no query has; else a warning, since tables that belong to nobody are fine. A `session:` setting made of the caller counts as knowing it.",
			Wrong:   "UPDATE payments SET status = 'captured' WHERE id = @id",
			Right:   "UPDATE payments SET status = 'captured' WHERE id = @id AND tenant_id = @tenant_id",
		},
	}
}

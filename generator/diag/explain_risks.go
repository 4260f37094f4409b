package diag

// explainRisks explains what lint warns of. The examples are whole queries:
// lint is run on them in a test.
func explainRisks() []Explanation {
	return []Explanation{
		{
			Code: RiskNoIntent, Title: "an INSERT that only the key protects",
			Meaning: "The record of a key is kept for a day, or what `success` says. A request that is sent again after that, or by a client that makes a new key for it, inserts again. If there may be only one row per something that the request names, say so: @intent adds the unique index, and the constraint outlives every key. An INSERT with ON CONFLICT, and one whose columns fill a unique index with values of the request, are taken as protected; one intent protects the whole operation.",
			Wrong:   "-- name: CreatePayment :one\n-- @http POST /v1/payments\nINSERT INTO payments (tenant_id, order_id, amount) VALUES (@tenant_id, @order_id, @amount) RETURNING id;",
			Right:   "-- name: CreatePayment :one\n-- @http POST /v1/payments\n-- @intent payments (tenant_id, order_id)\nINSERT INTO payments (tenant_id, order_id, amount) VALUES (@tenant_id, @order_id, @amount) RETURNING id;",
		},
		{
			Code: RiskUnscoped, Title: "an intent that reaches over the scope",
			Meaning: "Without the scope's column, one tenant's row stands in the way of all others: they are told 409 about a row that they may not see, and learn that it exists. Add the column, unless what the intent names belongs to everybody.",
			Wrong:   "-- name: CreatePayment :one\n-- @http POST /v1/payments\n-- @intent payments (order_id)\nINSERT INTO payments (tenant_id, order_id, amount) VALUES (@tenant_id, @order_id, @amount) RETURNING id;",
			Right:   "-- name: CreatePayment :one\n-- @http POST /v1/payments\n-- @intent payments (tenant_id, order_id)\nINSERT INTO payments (tenant_id, order_id, amount) VALUES (@tenant_id, @order_id, @amount) RETURNING id;",
		},
		{
			Code: RiskKey, Title: "a key that two different requests easily share",
			Meaning: "The key is a value of the request that has few possible values: a boolean, an enum, a day, a short text. Two requests that mean different things get the same key; the second is refused, or answered with the first one's record. Use a value that is made for one request, a header for example. Where there is no scope, a number is such a value too: anybody can guess it.",
			Wrong:   "-- name: CreatePayment :one\n-- @http POST /v1/payments\n-- @key body.currency\n-- @intent payments (tenant_id, order_id)\nINSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, @order_id, @amount, @currency) RETURNING id;",
			Right:   "-- name: CreatePayment :one\n-- @http POST /v1/payments\n-- @key body.order_id\n-- @intent payments (tenant_id, order_id)\nINSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, @order_id, @amount, @currency) RETURNING id;",
		},
		{
			Code: RiskLockOrder, Title: "rows or tables locked in no fixed order",
			Meaning: "Two requests that lock the same rows in different orders wait for each other: PostgreSQL ends one of them (40P01), and it is run again. Lock what you change first, in one order: SELECT … ORDER BY id FOR UPDATE, as a step, or in a WITH of the statement. The same goes for tables: all operations take them in one order.",
			Wrong:   "-- name: LockPayments :many\n-- @http POST /v1/locks 200\nSELECT id FROM payments WHERE tenant_id = @tenant_id AND amount > @above FOR UPDATE LIMIT 10;",
			Right:   "-- name: LockPayments :many\n-- @http POST /v1/locks 200\nSELECT id FROM payments WHERE tenant_id = @tenant_id AND amount > @above ORDER BY id FOR UPDATE LIMIT 10;",
		},
		{
			Code: RiskIndex, Title: "a database without the index of an intent",
			Meaning: "The database that --db names has no unique index for an intent, or one that is INVALID: a CREATE UNIQUE INDEX CONCURRENTLY that failed leaves it behind. It holds nothing: a second row is let in, and operations that name it fail. Apply the migration; it begins with a DROP of the broken index. If the build fails, its comment has the query that finds the rows which break the rule.",
			Wrong:   "DROP INDEX payments_tenant_id_order_id_intent;",
			Right:   "CREATE UNIQUE INDEX payments_tenant_id_order_id_intent ON payments (tenant_id, order_id);",
		},
		{
			Code: RiskSession, Title: "a statement that needs a session of its own",
			Meaning: "LISTEN, pg_advisory_lock, set_config(…, false), lastval and currval last as long as the connection. Behind a pooler in transaction mode the next statement may run on another one, and whoever gets this one finds what was left; in a pool of connections the next request does. Use what ends with the transaction: pg_advisory_xact_lock, set_config(…, true), RETURNING.",
			Wrong:   "-- name: LockQueue :exec\n-- @http POST /v1/queue 204\nUPDATE payments SET amount = amount WHERE tenant_id = @tenant_id AND id = @id AND pg_advisory_lock(7) IS NOT NULL;",
			Right:   "-- name: LockQueue :exec\n-- @http POST /v1/queue 204\nUPDATE payments SET amount = amount WHERE tenant_id = @tenant_id AND id = @id AND pg_advisory_xact_lock(7) IS NOT NULL;",
		},
		{
			Code: RiskUnbounded, Title: "a list without a limit",
			Meaning: "A :many without LIMIT answers with every row that there is, and grows with the table until it is above the limit of a record, or the memory of the service. Page it: ORDER BY a unique column, a lower bound that the client sends, and LIMIT.",
			Wrong:   "-- name: ListPayments :many\n-- @http GET /v1/payments\nSELECT id, amount FROM payments WHERE tenant_id = @tenant_id ORDER BY id;",
			Right:   "-- name: ListPayments :many\n-- @http GET /v1/payments\n-- @bind after query.after default=0\n-- @bind size query.size default=20 min=1 max=100\nSELECT id, amount FROM payments WHERE tenant_id = @tenant_id AND id > @after::bigint ORDER BY id LIMIT @size::int;",
		},
		{
			Code: RiskKeptSecret, Title: "an answer that holds what looks like a secret",
			Meaning: "A record keeps the answer, so that a retry gets it. This one returns a column that is named like a secret: it would lie in idem.keys, readable for whoever reads that table, for as long as `success` says. Hide the column (@omit), keep no answer (record=none), or encrypt it (record=sealed).",
			Wrong:   "-- name: RotateToken :one\n-- @http POST /v1/tokens/{id} 200\nUPDATE payments SET api_token = gen_random_uuid()::text WHERE tenant_id = @tenant_id AND id = @id RETURNING id, api_token;",
			Right:   "-- name: RotateToken :one\n-- @http POST /v1/tokens/{id} 200\n-- @policy record=sealed\nUPDATE payments SET api_token = gen_random_uuid()::text WHERE tenant_id = @tenant_id AND id = @id RETURNING id, api_token;",
		},
	}
}

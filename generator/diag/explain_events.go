package diag

// explainEvents explains what can be wrong with @outbox.
func explainEvents() []Explanation {
	return []Explanation{
		{
			Code: EventForm, Title: "an event that the statement can't write",
			Meaning: "An @outbox event is made of the row that the statement returns, and written by the same statement. So the query is :one or :many (with `each:` also :batchone or :batchmany), and its table has no rules (CREATE RULE), which PostgreSQL does not take together with WITH.",
			Wrong:   "-- name: DeletePayment :exec\n-- @http DELETE /v1/payments/{id}\n-- @outbox payment.deleted key=id\nDELETE FROM payments WHERE tenant_id = @tenant_id AND id = @id;",
			Right:   "-- name: DeletePayment :one\n-- @http DELETE /v1/payments/{id}\n-- @outbox payment.deleted key=id\nDELETE FROM payments WHERE tenant_id = @tenant_id AND id = @id RETURNING id;",
		},
	}
}

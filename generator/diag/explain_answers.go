package diag

// explainAnswers explains what can be wrong with what an operation answers.
func explainAnswers() []Explanation {
	return []Explanation{
		{
			Code: ProblemForm, Title: "a problem that can't be declared",
			Meaning: "A problem is STATUS [code] [\"title\"]. A definite answer is recorded and replayed, so statuses that mean `try again` (408, 425, 429) can't be declared, and @error can't claim 401 or 403. The code is a snake_case word, the title stands in double quotes. An @status that can change nothing is refused: one that repeats the success status or another @status, or whose column is an @require too.",
			Wrong:   "-- @error payments_amount_check 429 Amount-Bad 'amount must be positive'",
			Right:   "-- @error payments_amount_check 422 amount_not_positive \"amount must be positive\"",
		},
		{
			Code: ColumnUnknown, Title: "a column that the statement doesn't return",
			Meaning: "@require, @status, @omit, @header and a spec's response name columns of the RETURNING or SELECT list. @require and @status need a boolean.",
			Wrong:   "-- @status created 201\n… RETURNING id;",
			Right:   "-- @status created 201\n… RETURNING id, (xmax = 0) AS created;",
		},
		{
			Code: HeaderForm, Title: "a response header that can't be set",
			Meaning: "Set-Cookie, Authorization, hop-by-hop and Content-* headers and the key headers are refused: they must not be stored and replayed, or they are set by the runtime. The template stands in double quotes and holds {column} of the row.",
			Wrong:   "-- @header Set-Cookie \"session={token}\"",
			Right:   "-- @header Location \"/v1/payments/{id}\"",
		},
		{
			Code: PolicyForm, Title: "a policy that can't be",
			Meaning: "Policies are KEY=VALUE pairs of the keys success, client_error, server_error, inflight, fingerprint, isolation, timeout, max_body, record and force_retry. success and client_error are at least twice the timeout, so that a late first attempt still finds the answer. force_retry=on is for profile gateway, and for operations that can run again: not where an @intent allows the row only once, nor with calls or async. These keep their inputs as they are until they are done, so record=sealed is not for them either.",
			Wrong:   "-- @policy success=1s timeout=30s",
			Right:   "-- @policy success=24h timeout=30s",
		},
		{
			Code: ExampleForm, Title: "an example that is not a valid request",
			Meaning: "The example is one JSON document that the operation's own schema accepts: members, types, enums, lengths, CHECKs, min and max. No member stands twice.",
			Wrong:   "-- @example {order_id: 17}",
			Right:   "-- @example {\"order_id\": \"o-17\", \"amount\": 1200}",
		},
		{
			Code: ConstraintUnused, Title: "an @error that can never happen",
			Meaning: "The constraint belongs to a table that the operation doesn't write, or the SQLSTATE is none. Use the name of a constraint of the table that is written, or a SQLSTATE of five characters that PostgreSQL has in its class; errors that your functions raise have a class of their own, such as P0. A SQLSTATE that idemgen does not know in a class of PostgreSQL's is a warning: your server may be newer.",
			Wrong:   "-- @error 23O05 409",
			Right:   "-- @error 23505 409",
		},
	}
}

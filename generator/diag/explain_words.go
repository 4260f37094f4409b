package diag

// explainWords explains what can be wrong with annotations.
func explainWords() []Explanation {
	return []Explanation{
		{
			Code: AnnotationForm, Title: "malformed annotation",
			Meaning: "An annotation is a comment line in column 0, `-- @word arguments`, below the query's `-- name:` line. Positional arguments come first, then name=value. Text after a semicolon belongs to the next query, so an annotation above its `-- name:` line is easily read as another query's. What only looks like one would be ignored silently, so it is an error: @HTTP, @ http, @http: and --@http, and a -- Name: that sqlc does not see.",
			Wrong:   "-- @http POST /v1/payments 201\n-- name: CreatePayment :one",
			Right:   "-- name: CreatePayment :one\n-- @http POST /v1/payments 201",
		},
		{
			Code: UnknownWord, Title: "unknown annotation",
			Meaning: "A query with an annotation of idemgen has another @word that nobody knows. It would be ignored silently, so it is an error. sqlc's own @param and @sqlc-vet-disable are fine.",
			Wrong:   "-- @http POST /v1/payments\n-- @intnet payments (tenant_id, order_id)",
			Right:   "-- @http POST /v1/payments\n-- @intent payments (tenant_id, order_id)",
		},
		{
			Code: RepeatedWord, Title: "an annotation that may stand only once",
			Meaning: "@http, @intent, @empty, @operation, @key, @policy and @example stand once on a query. The others may be repeated, but not for the same name; @omit and @tag list a name once. An @omit of a column that @require or @status hides is a warning.",
			Wrong:   "-- @policy success=24h\n-- @policy timeout=5s",
			Right:   "-- @policy success=24h timeout=5s",
		},
	}
}
